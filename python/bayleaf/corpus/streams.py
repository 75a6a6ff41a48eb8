"""Opening: files and standard input as streams of bytes, decompressed, with what was read of them counted."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import importlib
import io
import lzma
import os
import sys
import zlib
from typing import Any

from bayleaf.corpus.settings import CorpusError, Settings, too_long

STANDARD_INPUT = "standard input"
BOM = codecs.BOM_UTF8
MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
DAMAGED = (EOFError, zlib.error, lzma.LZMAError)


PIPE_BYTES = 1 << 20


def _widen(raw: Any) -> None:
    """Let a pipe hold more, where the system allows it: reading through it then takes half the time."""
    with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):
        import fcntl

        fcntl.fcntl(raw.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)


class Counted(io.RawIOBase):
    """A raw stream that knows how many bytes were taken from it."""

    def __init__(self, raw: Any) -> None:
        self.count = 0
        self._raw = raw
        self._take = getattr(raw, "readinto1", raw.readinto)  # a pipe gives what has come, not a full block

    def readable(self) -> bool:
        """Tell the buffered layer above that reading is what this is for."""
        return True

    def readinto(self, target: Any) -> int:
        """Fill the target as far as one read of the raw stream does."""
        size = self._take(target) or 0
        self.count += size
        return int(size)

    def close(self) -> None:
        """Close the file below, but never the process's standard input."""
        if self._raw is not getattr(sys.stdin, "buffer", None):
            self._raw.close()
        super().close()


class Stream:
    """The bytes of one input, decompressed; `peek` looks ahead without consuming."""

    def __init__(self, name: str, raw: Any, settings: Settings) -> None:
        self.name = name
        self.compressed = False
        self.interactive = settings.interactive
        self._counted = Counted(raw)
        self._head = b""
        self._at = 0
        self._most = settings.max_record
        self._source: Any = io.BufferedReader(self._counted, 1 << 16)
        self._decompress()
        if settings.encoding == "utf-8" and settings.format != "eml" and not settings.mail:
            self._drop_mark()
        elif not settings.has_byte_lines:
            self._recode(settings)

    @property
    def consumed(self) -> int:
        """How many bytes of the file itself (compressed, if it is) have been read."""
        return self._counted.count

    def close(self) -> None:
        """Close the file."""
        self._source.close()
        self._counted.close()

    def read(self, size: int) -> bytes:
        """Read `size` bytes, fewer only at the end, or when interactive: then whatever has come."""
        taken = self._head[self._at : self._at + size]
        self._at += len(taken)
        if self._at == len(self._head):
            self._head, self._at = b"", 0
        if self.interactive:
            return taken or self._read(size)
        pieces, missing = [taken], size - len(taken)
        while missing and (more := self._read(missing)):
            pieces.append(more)
            missing -= len(more)
        return b"".join(pieces)

    def peek(self, size: int, wait: bool = False) -> bytes:
        """Look at the first `size` bytes and a whole line; interactively at what has come, unless to wait."""
        pieces, length, whole = [self._head], len(self._head), b"\n" in self._head
        while not whole or (length < size and (wait or not self.interactive)):
            if length > self._most:
                raise CorpusError(f"{self.name}, line 1{too_long(self._most)}.")
            more = self._read(max(size, length))
            if not more:
                break
            pieces.append(more)
            length, whole = length + len(more), whole or b"\n" in more
        self._head = b"".join(pieces)
        return self._head

    def _read(self, size: int) -> bytes:
        try:
            read = self._source.read1 if self.interactive else self._source.read
            return bytes(read(size))
        except DAMAGED as error:
            raise CorpusError(f"{self.name} is damaged or cut off: {error}.") from error
        except UnicodeDecodeError as error:
            byte = f"byte 0x{error.object[error.start]:02X}"
            raise CorpusError(
                f"{self.name}: {byte} is not valid {error.encoding} ({error.reason})."
            ) from error
        except OSError as error:
            raise CorpusError(f"{self.name} could not be read: {error.strerror or error}.") from error

    def _decompress(self) -> None:
        start = self.peek_magic()
        kind = next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), None)
        if kind and not (kind == "bzip2" and start[4:10] != b"1AY&SY"):
            self._source = decompressing(kind, self._source, self.name)
            self.compressed = True

    def peek_magic(self) -> bytes:
        """Look at the first bytes before anything is decompressed."""
        try:
            return bytes(self._source.peek(16)[:16])
        except OSError as error:
            raise CorpusError(f"{self.name} could not be read: {error.strerror or error}.") from error

    def _drop_mark(self) -> None:
        start = self.peek(1 << 12)
        if start.startswith(BOM):
            self._head = start[len(BOM) :]  # nothing of it has been read
        elif start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise CorpusError(f'{self.name} begins like UTF-16, not UTF-8. Read it with `encoding="utf-16"`.')

    def _recode(self, settings: Settings) -> None:
        errors = "replace" if settings.on_error == "replace" else "strict"
        self._source = Recoded(self._source, settings.encoding, errors)


class Section(Stream):
    """The lines of an uncompressed file that begin in a range of its bytes; errors count lines from there."""

    def __init__(self, path: str, start: int, end: int, settings: Settings) -> None:
        raw = io.FileIO(path)
        try:
            begin, stop = (_line_start(raw, offset) for offset in (start, end))
            raw.seek(begin)
            name = f"{path} from byte {begin}" if begin else path
            self._begin = begin
            super().__init__(name, Limited(raw, max(stop - begin, 0)), settings)
        except BaseException:
            raw.close()
            raise

    def _decompress(self) -> None:
        return

    def _drop_mark(self) -> None:
        if not self._begin:
            super()._drop_mark()


class Limited(io.RawIOBase):
    """The next bytes of a file, so many of them."""

    def __init__(self, raw: io.FileIO, left: int) -> None:
        self._raw, self._left = raw, left

    def readable(self) -> bool:
        """Tell the buffered layer above that reading is what this is for."""
        return True

    def readinto(self, target: Any) -> int:
        """Fill the target as far as there are bytes left."""
        size = self._raw.readinto(memoryview(target)[: self._left]) if self._left else 0
        self._left -= int(size or 0)
        return int(size or 0)

    def close(self) -> None:
        """Close the file."""
        self._raw.close()
        super().close()


def _line_start(raw: io.FileIO, offset: int) -> int:
    """Where the first line begins that does not begin before an offset."""
    if not offset:
        return 0
    at = raw.seek(offset - 1)
    while piece := raw.read(1 << 16):
        if (found := piece.find(b"\n")) >= 0:
            return at + found + 1
        at += len(piece)
    return at


class Recoded:
    """A stream in an encoding whose lines are not byte lines (UTF-16, UTF-32, EBCDIC), read as UTF-8."""

    def __init__(self, source: Any, encoding: str, errors: str) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)

    def read(self, size: int) -> bytes:
        """Read about `size` bytes of UTF-8; none only at the end."""
        return self._recoded(self._source.read, size)

    def read1(self, size: int) -> bytes:
        """Read what has come."""
        return self._recoded(self._source.read1, size)

    def close(self) -> None:
        """Close the stream below."""
        self._source.close()

    def _recoded(self, read: Any, size: int) -> bytes:
        while True:
            data = read(max(size, 1))
            text = self._decoder.decode(data, not data)
            if text or not data:
                return text.encode("utf-8")


def decompressing(kind: str, source: Any, name: str) -> Any:
    """Put the decompressor of a kind on top of a stream."""
    if kind == "gzip":
        return gzip.GzipFile(fileobj=source)
    if kind == "bzip2":
        return bz2.BZ2File(source)
    if kind == "xz":
        return lzma.LZMAFile(source)
    return _zstd(source, name)


def _zstd(source: Any, name: str) -> Any:
    try:
        return importlib.import_module("compression.zstd").ZstdFile(source)  # Python 3.14
    except ImportError:
        pass
    # The `zstandard` package was tried and left: it takes a file that is cut off for a whole one.
    try:
        return io.BufferedReader(importlib.import_module("pyarrow").CompressedInputStream(source, "zstd"))
    except ImportError:
        message = f'{name} is compressed with zstd. To read it: pip install "bayleaf[data]".'
        raise CorpusError(message) from None


def open_stream(path: str, settings: Settings) -> Stream:
    """Open a file, or standard input if the path is "-"."""
    if path == "-":
        raw = getattr(sys.stdin, "buffer", sys.stdin)
        _widen(raw)
        return Stream(STANDARD_INPUT, raw, settings)
    try:
        raw = io.FileIO(path)
    except OSError as error:
        raise CorpusError(f"{path} could not be opened: {error.strerror or error}.") from error
    try:
        return Stream(path, raw, settings)
    except BaseException:
        raw.close()
        raise


def stem(path: str) -> tuple[str, str]:
    """Split a file's name into what it is called and its ending, leaving compression aside."""
    base, ending = os.path.splitext(os.path.basename(path))
    if ending.lower() in COMPRESSED:
        base, ending = os.path.splitext(base)
    return base, ending.lower()
