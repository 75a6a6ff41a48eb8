//! Documents as Python hands them over, borrowed without a copy: strings and bytes in a list, Arrow arrays, or
//! slices of one buffer.

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{
    ArrowDictionaryKeyType, ByteArrayType, ByteViewType, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, GenericByteArray, GenericByteViewArray, make_array};
use arrow_buffer::ArrowNativeType;
use arrow_data::ByteView;
use arrow_schema::DataType;
use numpy::PyReadonlyArray1;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList, PyString, PyTuple};

use crate::analyze::reader::Document;

/// Keeps what the documents point into alive.
enum Owner {
    Object(#[allow(dead_code, reason = "holds a reference")] Py<PyAny>),
    Array(#[allow(dead_code, reason = "holds a reference")] ArrayRef),
    Buffer(#[allow(dead_code, reason = "holds a reference")] PyBuffer<u8>),
}

/// Documents and their owners.
pub struct Documents {
    owners: Vec<Owner>,
    /// Strings with lone surrogates, which have no UTF-8, with U+FFFD in their place.
    repaired: Vec<Box<[u8]>>,
    slices: Vec<Slice>,
}

#[derive(Clone, Copy)]
struct Slice {
    start: *const u8,
    length: usize,
    trusted: bool,
}

impl Documents {
    /// A single document.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut documents = Self { owners: Vec::new(), repaired: Vec::new(), slices: Vec::new() };
        documents.push_object(object)?;
        documents.owners.push(Owner::Object(object.clone().unbind()));
        Ok(documents)
    }

    pub fn len(&self) -> usize {
        self.slices.len()
    }

    pub fn get(&self) -> Vec<Document<'_>> {
        let document = |slice: &Slice| Document {
            // SAFETY: every slice points into one of the owners, which live as long as `self` does. Python's
            // strings never change and are trusted. The others may lie in memory that another thread writes to (an
            // Arrow array or a memoryview of a NumPy array): they are not trusted, so the reader copies first, and
            // checks the copy.
            bytes: unsafe { std::slice::from_raw_parts(slice.start, slice.length) },
            trusted: slice.trusted,
        };
        self.slices.iter().map(document).collect()
    }

    fn push(&mut self, bytes: &[u8], trusted: bool) {
        self.slices.push(Slice { start: bytes.as_ptr(), length: bytes.len(), trusted });
    }

    fn push_array(&mut self, array: &ArrayRef) -> PyResult<()> {
        for text in texts(array)? {
            let text = text.ok_or_else(|| missing(self.slices.len(), "missing"))?;
            self.push(text, false);
        }
        self.owners.push(Owner::Array(array.clone()));
        Ok(())
    }

    fn push_object(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(string) = object.cast::<PyString>() {
            match string.to_str() {
                Ok(text) => self.push(text.as_bytes(), true),
                Err(_) => {
                    let repaired = repair(string)?;
                    self.push(&repaired, true);
                    self.repaired.push(repaired);
                }
            }
            return Ok(());
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            self.push(bytes.as_bytes(), false);
            return Ok(());
        }
        Err(missing(self.slices.len(), &describe(object)))
    }
}

/// Use the only document without making a list of it.
pub fn with_text<R>(text: &Bound<'_, PyString>, work: impl FnOnce(Document<'_>) -> R) -> PyResult<R> {
    match text.to_str() {
        Ok(text) => Ok(work(Document { bytes: text.as_bytes(), trusted: true })),
        Err(_) => Ok(work(Document { bytes: &repair(text)?, trusted: true })),
    }
}

fn describe(object: &Bound<'_, PyAny>) -> String {
    let kind = object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    let shown = object.repr().map_or_else(|_| "?".to_owned(), |repr| repr.to_string_lossy().into_owned());
    format!("{} ({kind})", shown.chars().take(60).collect::<String>())
}

fn missing(document: usize, what: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "Document {document} is {what}, not a string. Give text as str, or as bytes in UTF-8; leave out or fill what is missing."
    ))
}

/// The UTF-8 of a string, each surrogate replaced by U+FFFD: one character for one character.
fn repair(string: &Bound<'_, PyString>) -> PyResult<Box<[u8]>> {
    let encoded = string.call_method1("encode", ("utf-8", "surrogatepass"))?;
    let mut bytes = encoded.cast::<PyBytes>()?.as_bytes().to_vec();
    for at in 0..bytes.len().saturating_sub(2) {
        // In UTF-8, ED begins a character, and before A0 or more it is a surrogate.
        if bytes[at] == 0xED && bytes[at + 1] >= 0xA0 {
            bytes[at..at + 3].copy_from_slice("\u{fffd}".as_bytes());
        }
    }
    Ok(bytes.into_boxed_slice())
}

impl<'py> FromPyObject<'_, 'py> for Documents {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let mut documents = Self { owners: Vec::new(), repaired: Vec::new(), slices: Vec::new() };
        // Told by its type, a tuple need not be asked what else it can do: that is a third of one short answer.
        if object.is_exact_instance_of::<PyTuple>() {
            documents.push_sequence(&object)?;
        } else if object.hasattr("__arrow_c_stream__")? {
            for array in arrow_stream(&object)? {
                documents.push_array(&array)?;
            }
        } else if object.hasattr("__arrow_c_array__")? {
            documents.push_array(&arrow_array(&object)?)?;
        } else if object.hasattr("buffer")? {
            documents.push_slices(&object)?;
        } else {
            documents.push_sequence(&object)?;
        }
        Ok(documents)
    }
}

impl Documents {
    fn push_sequence(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        // A tuple of our own keeps the strings alive even if the list is changed meanwhile.
        let tuple = match object.cast::<PyList>() {
            Ok(list) => list.to_tuple(),
            Err(_) => object.cast::<PyTuple>()?.clone(),
        };
        self.slices.reserve(tuple.len());
        for item in tuple.iter_borrowed() {
            self.push_object(&item)?;
        }
        self.owners.push(Owner::Object(tuple.into_any().unbind()));
        Ok(())
    }

    /// `buffer[starts[i]:ends[i]]` is document i.
    fn push_slices(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let buffer: PyBuffer<u8> = PyBuffer::get(&object.getattr("buffer")?)?;
        let starts: PyReadonlyArray1<'_, i64> = object.getattr("starts")?.extract()?;
        let ends: PyReadonlyArray1<'_, i64> = object.getattr("ends")?.extract()?;
        if !buffer.is_c_contiguous() || !buffer.readonly() || starts.len()? != ends.len()? {
            return Err(PyValueError::new_err(
                "Slices need a contiguous, read-only buffer and as many starts as ends.",
            ));
        }
        let length = buffer.len_bytes();
        for (&start, &end) in starts.as_array().iter().zip(ends.as_array()) {
            if start < 0 || end < start || end as usize > length {
                return Err(PyValueError::new_err(format!(
                    "Document {} would be bytes {start} to {end} of a buffer of {length}.",
                    self.slices.len()
                )));
            }
            let start_pointer = buffer.buf_ptr().cast::<u8>().cast_const().wrapping_add(start as usize);
            self.slices.push(Slice { start: start_pointer, length: (end - start) as usize, trusted: false });
        }
        self.owners.push(Owner::Buffer(buffer));
        Ok(())
    }
}

fn arrow_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("The Arrow column cannot be read: {error}."))
}

fn arrow_stream(object: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: the name says that the capsule holds a stream; it is moved out, as the protocol wants.
    let reader = unsafe { ArrayStreamReader::from_raw(pointer.cast::<FFI_ArrowArrayStream>().as_ptr()) };
    reader.map_err(arrow_error)?.map(|array| array.map_err(arrow_error)).collect()
}

fn arrow_array(object: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) =
        object.call_method0("__arrow_c_array__")?.extract()?;
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
    // SAFETY: the name says what the capsule holds.
    if unsafe { array.as_ref() }.is_released() {
        return Err(arrow_error("it was read already; export it again"));
    }
    // SAFETY: the names say what the capsules hold; the array is moved out, as the protocol wants.
    let array = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
    Ok(make_array(array.map_err(arrow_error)?))
}

type Texts<'a> = Box<dyn Iterator<Item = Option<&'a [u8]>> + 'a>;

fn texts(array: &ArrayRef) -> PyResult<Texts<'_>> {
    Ok(match array.data_type() {
        DataType::Utf8 => Box::new(in_order(array.as_string::<i32>())?),
        DataType::LargeUtf8 => Box::new(in_order(array.as_string::<i64>())?),
        DataType::Binary => Box::new(in_order(array.as_binary::<i32>())?),
        DataType::LargeBinary => Box::new(in_order(array.as_binary::<i64>())?),
        DataType::Utf8View => Box::new(viewed(array.as_string_view())?),
        DataType::BinaryView => Box::new(viewed(array.as_binary_view())?),
        DataType::Dictionary(key, _) => match key.as_ref() {
            DataType::Int8 => repeated::<Int8Type>(array)?,
            DataType::Int16 => repeated::<Int16Type>(array)?,
            DataType::Int32 => repeated::<Int32Type>(array)?,
            DataType::Int64 => repeated::<Int64Type>(array)?,
            DataType::UInt8 => repeated::<UInt8Type>(array)?,
            DataType::UInt16 => repeated::<UInt16Type>(array)?,
            DataType::UInt32 => repeated::<UInt32Type>(array)?,
            _ => repeated::<UInt64Type>(array)?,
        },
        DataType::Null if array.is_empty() => Box::new(std::iter::empty()),
        other => {
            return Err(PyTypeError::new_err(format!(
                "The column has the type {other}, not text. Convert it to strings."
            )));
        }
    })
}

/// Texts one behind the other. Its producer may have checked only the first and the last place.
fn in_order<T: ByteArrayType>(array: &GenericByteArray<T>) -> PyResult<impl Iterator<Item = Option<&[u8]>>> {
    let wrong = || arrow_error("its offsets are not in order");
    let places: Option<Vec<usize>> = array.value_offsets().iter().map(|place| place.to_usize()).collect();
    let places = places.filter(|places| places.is_sorted()).ok_or_else(wrong)?;
    let data = array.value_data();
    if places.last().is_some_and(|&end| end > data.len()) {
        return Err(wrong());
    }
    let text = |i: usize| &data[places[i]..places[i + 1]];
    let nulls = array.nulls();
    let texts: Vec<_> =
        (0..array.len()).map(|i| nulls.is_none_or(|nulls| nulls.is_valid(i)).then(|| text(i))).collect();
    Ok(texts.into_iter())
}

/// Texts that say where they are: in the view itself if they are short, or in one of some buffers.
fn viewed<T: ByteViewType>(array: &GenericByteViewArray<T>) -> PyResult<impl Iterator<Item = Option<&[u8]>>> {
    let (nulls, views) = (array.nulls(), array.views());
    let text = |i: usize| {
        let view = &views[i];
        if nulls.is_some_and(|nulls| nulls.is_null(i)) {
            return Ok(None);
        }
        let length = *view as u32;
        if length <= INSIDE {
            return Ok(Some(inside(view, length)));
        }
        let view = ByteView::from(*view);
        let buffer = array.data_buffers().get(view.buffer_index as usize);
        let start = view.offset as usize;
        let found = buffer.and_then(|buffer| buffer.as_slice().get(start..start + length as usize));
        found.map(Some).ok_or_else(|| arrow_error(format!("text {i} lies outside of its buffers")))
    };
    let texts: Vec<_> = (0..views.len()).map(text).collect::<PyResult<_>>()?;
    Ok(texts.into_iter())
}

/// So many bytes fit into a view.
const INSIDE: u32 = 12;

fn inside(view: &u128, length: u32) -> &[u8] {
    // SAFETY: the 16 bytes of a number; in a view the text is behind the 4 bytes of its length.
    let bytes = unsafe { std::slice::from_raw_parts((&raw const *view).cast::<u8>(), size_of::<u128>()) };
    &bytes[4..4 + length as usize]
}

/// A dictionary-encoded column: each text is stored once.
fn repeated<K: ArrowDictionaryKeyType>(array: &ArrayRef) -> PyResult<Texts<'_>> {
    let dictionary = array.as_dictionary::<K>();
    let values: Vec<Option<&[u8]>> = texts(dictionary.values())?.collect();
    let found = |key: Option<usize>| match key {
        None => Ok(None),
        Some(key) => values.get(key).copied().ok_or_else(|| {
            arrow_error(format!("a key is outside of its dictionary, which has {} texts", values.len()))
        }),
    };
    let texts: Vec<_> = dictionary.keys_iter().map(found).collect::<PyResult<_>>()?;
    Ok(Box::new(texts.into_iter()))
}
