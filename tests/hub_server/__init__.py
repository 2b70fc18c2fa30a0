"""A Hub on 127.0.0.1 that the real client library works against, with faults on demand.

It answers what `huggingface_hub` 2.4 asks (search with paging, a repository's page, its file tree,
`paths-info`, `resolve`, `whoami-v2`) as huggingface.co does: large files by a redirect to a second
server, which is a foreign host to the first, behind an address that is signed and may expire.

In a test:

    with HubServer(folder) as hub:                 # folder/OWNER/REPO/files…, see `repositories`
        HfApi(endpoint=hub.endpoint, token=False).model_info("owner/repo")
        hub.add(Fault("*.gguf", drop_after=1_000_000, times=1))
        hub.requests                               # who asked for what, and what was sent

Repositories can also be given as `{"owner/repo": Repository(...)}`, with content as bytes or files;
`hub_server.demo.demo_repositories()` are those of the built-in pair.

By hand, from the folder `tests`:

    python -m hub_server FOLDER [--port N] [--bytes-per-s N]
    python -m hub_server --demo                    # the built-in pair as two repositories
    HF_ENDPOINT=http://127.0.0.1:N paceline hub search demo
"""

from hub_server.faults import Fault
from hub_server.repositories import Repository, read_folder
from hub_server.server import HubServer, Request

__all__ = ["Fault", "HubServer", "Repository", "Request", "read_folder"]
