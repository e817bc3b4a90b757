-- oldest compatible program: 1

-- From here on `token` holds the SHA-256 of a session's token, in hex. Sessions that began before end.
DELETE FROM sessions;
CREATE INDEX sessions_by_end ON sessions (expires_at);

-- What signed the cookies of those sessions.
DELETE FROM secrets WHERE name = 'cookies';
