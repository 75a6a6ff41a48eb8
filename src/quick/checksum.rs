//! CRC-32, as in zlib, sixteen bytes at a time; and the checksums of the blocks of a file.

/// So many bytes have a checksum of their own: what a message needs lies far apart, so blocks are small.
pub const BLOCK: usize = 1024;

const SLICES: usize = 16;

const TABLES: [[u32; 256]; SLICES] = {
    let mut tables = [[0; 256]; SLICES];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ 0xEDB8_8320 } else { value >> 1 };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut slice = 1;
    while slice < SLICES {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[slice - 1][byte];
            tables[slice][byte] = before >> 8 ^ tables[0][(before & 0xFF) as usize];
            byte += 1;
        }
        slice += 1;
    }
    tables
};

/// The checksum of bytes that follow others, whose checksum is `before`; 0 of none.
pub fn crc32(bytes: &[u8], before: u32) -> u32 {
    let mut crc = !before;
    let (chunks, rest) = bytes.as_chunks::<SLICES>();
    for chunk in chunks {
        let first = crc.to_le_bytes();
        crc = 0;
        for (i, byte) in chunk.iter().enumerate() {
            let byte = if i < 4 { byte ^ first[i] } else { *byte };
            crc ^= TABLES[SLICES - 1 - i][byte as usize];
        }
    }
    for &byte in rest {
        crc = crc >> 8 ^ TABLES[0][((crc ^ u32::from(byte)) & 0xFF) as usize];
    }
    !crc
}

/// The checksums of the blocks of pieces that stand one behind the other, four bytes each.
pub fn of_blocks(pieces: &[&[u8]]) -> Vec<u8> {
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    let mut sums = Vec::with_capacity(length.div_ceil(BLOCK) * 4);
    let (mut crc, mut filled) = (0, 0);
    for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() {
            let (here, later) = rest.split_at(rest.len().min(BLOCK - filled));
            crc = crc32(here, crc);
            filled += here.len();
            rest = later;
            if filled == BLOCK {
                sums.extend_from_slice(&crc.to_le_bytes());
                (crc, filled) = (0, 0);
            }
        }
    }
    if filled > 0 {
        sums.extend_from_slice(&crc.to_le_bytes());
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bit_by_bit(bytes: &[u8]) -> u32 {
        let mut crc = u32::MAX;
        for &byte in bytes {
            crc ^= u32::from(byte);
            (0..8).for_each(|_| crc = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 });
        }
        !crc
    }

    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(crc32(b"123456789", 0), 0xCBF4_3926);
    }

    proptest! {
        #[test]
        fn the_checksum_of_pieces_is_that_of_the_whole(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0usize..200) {
            let (left, right) = bytes.split_at(cut.min(bytes.len()));
            prop_assert_eq!(crc32(right, crc32(left, 0)), bit_by_bit(&bytes));
        }

        #[test]
        fn blocks_do_not_depend_on_where_pieces_end(bytes in prop::collection::vec(any::<u8>(), 0..5000), cut in 0usize..5000) {
            let (left, right) = bytes.split_at(cut.min(bytes.len()));
            let expected: Vec<u8> = bytes.chunks(BLOCK).flat_map(|block| bit_by_bit(block).to_le_bytes()).collect();
            prop_assert_eq!(of_blocks(&[left, right]), expected);
        }
    }
}
