//! Python with the core inside, so that AddressSanitizer watches both: runs a module as `python -m` does.

use pyo3::prelude::*;

use _core::module as _core;

fn main() -> PyResult<()> {
    pyo3::append_to_inittab!(_core);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    Python::initialize();
    Python::attach(|py| {
        py.import("sys")?.setattr("argv", &arguments)?;
        py.run(
            c"
import os, runpy, sys, _core
sys.modules['bayleaf._core'] = _core
try:
    runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)
except SystemExit as end:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(end.code if isinstance(end.code, int) else int(end.code is not None))
",
            None,
            None,
        )
    })
}
