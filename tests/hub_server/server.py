"""The two servers, who may do what, and the log of requests."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit

from hub_server import answers, content
from hub_server.answers import Answer
from hub_server.faults import Fault, Faults
from hub_server.repositories import RepoFile, Repository, read_folder
from hub_server.sockets import Server

_MODEL = re.compile(r"^/api/models/([^/]+/[^/]+?)(?:/(revision|tree|paths-info|refs)(?:/(.*))?)?$")
_FILE = re.compile(r"^/([^/]+/[^/]+)/resolve/([^/]+)/(.+)$")
_BLOB = re.compile(r"^/blobs/(\d+)/([0-9a-f]{64})/")


@dataclass
class Request:
    """One request as it came in, and what became of it.

    Attributes:
        method: HEAD, GET or POST.
        path: With the query.
        headers: Names in lower case.
        host: "hub" or "cdn".
        status: HTTP status of the answer, or 0 if there was none.
        start: First byte of the file that was sent.
        n_sent: Bytes of the file that were sent, or at least given to the system.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    host: str
    status: int = 0
    start: int = 0
    n_sent: int = 0

    @property
    def has_token(self) -> bool:
        """Return whether the request carried credentials."""
        return "authorization" in self.headers


class HubServer:
    """A Hub that runs during the `with` block.

    Attributes:
        endpoint: Address of the Hub.
        cdn_endpoint: Address of the second server, which has the large files.
        requests: All requests, in order.
        tokens: Token -> gated and private repositories that it opens; any other token is wrong.
        page_size: Models per page of a search.
        signed_for_s: Seconds for which an address of the second server is valid.
        moved: Old name of a repository -> its new name.
    """

    def __init__(
        self,
        repositories: Path | Mapping[str, Repository] | Callable[[], Mapping[str, Repository]],
        *,
        port: int = 0,
        page_size: int = 1000,
        signed_for_s: float = 3600.0,
    ) -> None:
        self._repositories = repositories
        self._faults = Faults()
        self._ports = (port, 0)
        self.requests: list[Request] = []
        self.tokens: dict[str, set[str]] = {}
        self.page_size = page_size
        self.signed_for_s = signed_for_s
        self.moved: dict[str, str] = {}
        self.closing = threading.Event()
        self.failures: list[BaseException] = []
        self._servers: list[Server] = []
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> HubServer:
        for host, port in zip(("hub", "cdn"), self._ports, strict=True):
            server = Server(self, host, port)
            thread = threading.Thread(
                target=server.serve_forever, kwargs={"poll_interval": 0.05}, name=f"{host}-server"
            )
            self._servers.append(server)
            self._threads.append(thread)
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        for server in self._servers:
            server.shutdown()
            server.hang_up()
            server.server_close()
        for thread in self._threads:
            thread.join()
        if self.failures:
            raise self.failures[0]

    @property
    def endpoint(self) -> str:
        return self._servers[0].address

    @property
    def cdn_endpoint(self) -> str:
        return self._servers[1].address

    @property
    def repositories(self) -> Mapping[str, Repository]:
        """The repositories as they are now: files may change while the server runs."""
        if isinstance(self._repositories, Path):
            return read_folder(self._repositories)
        return self._repositories() if callable(self._repositories) else self._repositories

    def add(self, fault: Fault) -> None:
        """Let something go wrong from now on."""
        self._faults.add(fault)

    def clear(self) -> None:
        """Let nothing go wrong any more."""
        self._faults.clear()

    def hold(self) -> None:
        """Wait until the faults of now are cleared, or all ends."""
        cleared = self._faults.cleared
        while not cleared.wait(0.02) and not self.closing.is_set():
            pass

    def record(
        self, method: str, path: str, headers: Iterable[tuple[str, str]], host: str
    ) -> Request:
        """Write a request into the log."""
        named = {name.lower(): text for name, text in headers}
        request = Request(method, path, named, host)
        self.requests.append(request)
        return request

    def faults_of(self, request: Request, *, content: bool) -> Fault:
        """Return what is to go wrong with a request."""
        path = unquote(request.path.split("?")[0])
        return self._faults.of(request.method, path, request.host, content=content)

    def asked(self, pattern: str) -> list[Request]:
        """Return the requests whose method and address match a regular expression."""
        return [r for r in list(self.requests) if re.search(pattern, f"{r.method} {r.path}")]

    def n_bytes_sent(self) -> int:
        """Return how many bytes of files were sent, over all requests."""
        return sum(request.n_sent for request in list(self.requests))

    # ------------------------------------------------------------------------------- routing

    def answer(self, request: Request, form: answers.Query, etag: str) -> Answer | content.Content:
        """Return the true answer to a request, but with this ETag, if it is not empty."""
        split = urlsplit(request.path)
        query = parse_qs(split.query)
        if request.host == "cdn":
            return self._blob(split.path, query)
        path = split.path
        if path == "/api/whoami-v2":
            return self._whoami(request)
        if path == "/api/models":
            every = list(self.repositories.values())
            return answers.models(every, query, self.endpoint, self.page_size)
        if found := _MODEL.match(path):
            return self._model(request, found, query, form)
        if found := _FILE.match(path):
            return self._file(request, etag, *found.groups())
        return answers.failure(404, message="Sorry, we can't find the page you are looking for.")

    def _model(
        self, request: Request, found: re.Match[str], query: answers.Query, form: answers.Query
    ) -> Answer:
        repository = self._open(request, found[1])
        if isinstance(repository, Answer):
            return repository
        what, rest = found[2], found[3] or "main"
        if what == "refs":
            branch = {"name": "main", "ref": "refs/heads/main", "targetCommit": repository.commit}
            return answers.as_json({"branches": [branch], "tags": [], "converts": []})
        revision, _, folder = rest.partition("/")
        if not _is_revision(repository, unquote(revision)):
            return answers.failure(404, "RevisionNotFound", f"Invalid rev id: {unquote(revision)}")
        if what == "tree":
            return answers.tree(repository, unquote(folder), query)
        if what == "paths-info":
            return answers.paths_info(repository, form.get("paths", []))
        return answers.model(repository, query)

    def _file(
        self, request: Request, etag: str, repo: str, revision: str, path: str
    ) -> Answer | content.Content:
        repository = self._open(request, repo)
        if isinstance(repository, Answer):
            return repository
        if not _is_revision(repository, unquote(revision)):
            return answers.failure(404, "RevisionNotFound", f"Invalid rev id: {unquote(revision)}")
        if repository.gated and (refused := self._refusal(request, repository)):
            return refused
        file = repository.file(unquote(path))
        if file is None:
            return answers.failure(404, "EntryNotFound", "Entry not found")
        etag = etag or file.etag
        headers = {"X-Repo-Commit": repository.commit, "Accept-Ranges": "bytes"}
        if not file.is_large:
            return content.Content(file, {**headers, "ETag": f'"{etag}"'})
        return Answer(
            302,
            headers={
                **headers,
                "Location": self._signed(file),
                "X-Linked-Size": str(file.n_bytes),
                "X-Linked-Etag": f'"{etag}"',
            },
        )

    def _open(self, request: Request, repo: str) -> Repository | Answer:
        """Return a repository, or the reason why this request cannot have it."""
        if repo in self.moved:
            path = request.path.replace(repo, self.moved[repo], 1)
            return Answer(307, headers={"Location": path})
        repository = self.repositories.get(repo)
        if repository is None:
            return answers.failure(404, "RepoNotFound", "Repository not found")
        if repository.details.get("private") and repo not in self._granted(request):
            return answers.failure(401, "RepoNotFound", "Invalid username or password.")
        return repository

    def _token(self, request: Request) -> str:
        return request.headers.get("authorization", "").removeprefix("Bearer ")

    def _granted(self, request: Request) -> set[str]:
        return self.tokens.get(self._token(request), set())

    def _refusal(self, request: Request, repository: Repository) -> Answer | None:
        if repository.id in self._granted(request):
            return None
        said = f"Access to model {repository.id} is restricted."
        if self._token(request) in self.tokens:
            return answers.failure(403, "GatedRepo", f"{said} You are not in the authorized list.")
        return answers.failure(401, "GatedRepo", f"{said} You must be authenticated to access it.")

    def _whoami(self, request: Request) -> Answer:
        if self._token(request) not in self.tokens:
            return answers.failure(401, message="Invalid username or password.")
        token = {"type": "access_token", "accessToken": {"displayName": "test", "role": "read"}}
        return answers.as_json({"type": "user", "name": "tester", "auth": token})

    # ------------------------------------------------------------------------ the second server

    def _signed(self, file: RepoFile) -> str:
        until = int((time.time() + self.signed_for_s) * 1000)
        name = quote(file.path.rsplit("/", 1)[-1])
        signature = self._signature(until, file.sha256)
        return f"{self.cdn_endpoint}/blobs/{until}/{file.sha256}/{name}?Signature={signature}"

    def _signature(self, until: int, sha256: str) -> str:
        return hashlib.sha256(f"{id(self)} {until} {sha256}".encode()).hexdigest()[:32]

    def _blob(self, path: str, query: answers.Query) -> Answer | content.Content:
        found = _BLOB.match(path)
        if found is None:
            return Answer(404)
        until, sha256 = int(found[1]), found[2]
        if query.get("Signature") != [self._signature(until, sha256)]:
            return Answer(403, b"<Error><Code>AccessDenied</Code></Error>")
        if time.time() * 1000 > until:
            return Answer(403, b"<Error><Code>AccessDenied</Code>Request has expired</Error>")
        for repository in self.repositories.values():
            for file in repository.all_files():
                if file.is_large and file.sha256 == sha256:
                    return content.Content(file, {"ETag": f'"{sha256}"', "Accept-Ranges": "bytes"})
        return Answer(404)


def _is_revision(repository: Repository, revision: str) -> bool:
    known = {"main", *repository.details.get("revisions", ()), repository.commit}
    return revision in known or (len(revision) >= 7 and repository.commit.startswith(revision))
