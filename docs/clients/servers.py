import contextlib, hashlib, json, os, pathlib, re, sys, tempfile, time, urllib.request

url = "https://api.example.com/v1/servers"
key = os.environ.get("SERVER_LISTING_KEY", "").strip()
if not re.fullmatch("svc_live_[0-9a-f]{64}", key):
    sys.exit("SERVER_LISTING_KEY must be svc_live_ and 64 hexadecimal digits")

# The last list. The file's own time says when a program last asked.
name = "servers-" + hashlib.sha256((url + key).encode()).hexdigest()[:32] + ".json"
file = pathlib.Path(tempfile.gettempdir(), name)

def read_kept():
    try:
        found = file.lstat()
        # Other users can put a file there, too. Windows has a folder for each user, and no uid.
        if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
            return None
        kept = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    now = time.time()
    kept["age"] = now - kept["time"]
    kept["fresh"] = 0 <= now - found.st_mtime < 10
    return kept if 0 <= kept["age"] < 3600 else None

def keep(servers):
    """Renames a file of its own, so that no reader sees half a list. Works without a list, too."""
    handle, own = tempfile.mkstemp()
    try:
        with open(handle, "w") as text:
            json.dump({"time": time.time(), "servers": servers}, text)
        os.replace(own, file)
    except OSError:
        os.remove(own)

def load_servers(is_retry=False):
    """Returns the servers and the age of the list in seconds. Asks every ten seconds at most."""
    kept = read_kept()
    if kept and kept["fresh"]:
        return kept["servers"], kept["age"]
    try:
        if kept:
            os.utime(file)  # While this program asks, others use the kept list.
        request = urllib.request.Request(url, headers={"Authorization": "Bearer " + key})
        with urllib.request.urlopen(request, timeout=10) as answer:
            servers = json.load(answer)["servers"]
    except Exception as error:
        status = getattr(error, "code", None)  # None without a whole answer
        if kept and status in (None, 429, 502, 503):
            return kept["servers"], kept["age"]
        if status == 401:
            with contextlib.suppress(OSError):  # A file of another user may stay.
                file.unlink()
        if status != 429 or is_retry:
            raise
        time.sleep(1)
        return load_servers(True)
    keep(servers)
    return servers, 0

sys.stdout.reconfigure(errors="replace")  # A terminal may lack characters of a name.
servers, age = load_servers()
for server in servers:
    print(server["name"], server["address"])
if age >= 10:
    print("This list is", int(age), "seconds old.")
