"""`pliant devices`: where simulations can compute on this machine."""

import json

import click

from pliant.cli.tools import verbose_option

EXAMPLES = """\b
Examples:
  pliant devices
  pliant devices --json
"""


@click.command(epilog=EXAMPLES)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@verbose_option
def devices(as_json: bool) -> None:
    """Show where simulations can compute: the processor, and an NVIDIA GPU or why there is none."""
    from pliant.errors import DeviceError
    from pliant.jit import thread_count
    from pliant.kernels.device import device

    found = {"cpu": {"threads": thread_count(None, 1 << 30)}}
    try:
        found["cuda"] = device("cuda").resident.toolkit.find_gpu().report()
    except DeviceError as error:
        found["cuda"] = {"missing": str(error)}
    if as_json:
        click.echo(json.dumps(found))
        return
    click.echo(f"cpu: {found['cpu']['threads']} threads")
    click.echo(f"cuda: {_in_words(found['cuda'])}")


def _in_words(gpu: dict) -> str:
    if "missing" in gpu:
        return f"not available; {gpu['missing']}"
    capability = ".".join(map(str, gpu["capability"]))
    return (
        f"{gpu['name']}, compute capability {capability}, {gpu['multiprocessors']} multiprocessors, "
        f"{gpu['free'] / 1e9:.1f} of {gpu['memory'] / 1e9:.1f} GB free; the driver knows CUDA "
        f"{gpu['driver'] // 1000}.{gpu['driver'] % 1000 // 10}; numba-cuda {gpu['numba_cuda']}"
    )
