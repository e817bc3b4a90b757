import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPostgresUrl } from '../../src/model/postgres-url.ts'

/*
 * What a DATABASE_URL of PostgreSQL means. PostgreSQL's own programs read the same URL alike: see
 * "Connection URIs" in the documentation of libpq.
 */

/** Who connects to what: `user:password@host:port,host:port/database`. */
function readingOf(url: string): string {
  const read = readPostgresUrl(url)
  if ('complaint' in read) return read.complaint
  const { user, password, hosts, database } = read
  const places = hosts.map(({ host, port }) => `${host}:${port}`).join()
  return `${user}:${password}@${places}/${database}`
}

test('a URL says who connects to which hosts and database', () => {
  for (const [url, reading] of [
    ['postgres://u:p@h:5433/x', 'u:p@h:5433/x'],
    ['POSTGRESQL://u@h/x', 'u:@h:5432/x'],
    ['postgres://h/x', ':@h:5432/x'],
    ['postgres://u:p@a:1,b,[::1]:3/x', 'u:p@a:1,b:5432,::1:3/x'],
    ['postgres://u:a:b@h/x', 'u:a:b@h:5432/x'],
    // Percent-encoding. A % that encodes nothing stays.
    ['postgres://u%40x:p%40%2F%3F%23%3A%C3%A9@h/x%20y', 'u@x:p@/?#:é@h:5432/x y'],
    ['postgres://u:50%off%@h/x', 'u:50%off%@h:5432/x'],
    ['postgres://u:%e9@h/x', 'u:%e9@h:5432/x'],
    // A + is no space.
    ['postgres://h/x?password=a+b%20c', ':a+b c@h:5432/x'],
    // Parameters replace what stands before the database.
    ['postgres://u:p@h:5433/x?user=v&password=q', 'v:q@h:5433/x'],
    ['postgres://h:5433/x?host=127.0.0.1', ':@127.0.0.1:5433/x'],
    ['postgres://h:5433/x?host=127.0.0.1&port=5434', ':@127.0.0.1:5434/x'],
    ['postgres://a,b/x?host=c', 'have one port, or one for each host, not 2 ports'],
    ['postgres:///x?host=a,b&port=1,2', ':@a:1,b:2/x'],
    ['postgres:///x?host=a,b&port=6', ':@a:6,b:6/x'],
    ['postgres:///x?host=::1', ':@::1:5432/x'],
    // Unix sockets.
    ['postgres:///x?host=/run/postgresql', ':@/run/postgresql:5432/x'],
    ['postgres://u@/x?host=/run/postgresql&port=5433', 'u:@/run/postgresql:5433/x'],
    ['postgres://u:p@localhost/x?host=/cloudsql/a:b:c', 'u:p@/cloudsql/a:b:c:5432/x'],
    ['postgres://u@%2Frun%2Fpostgresql:5433/x', 'u:@/run/postgresql:5433/x'],
  ] as const)
    assert.equal(readingOf(url), reading, url)
})

test('a URL that says no host, no database or a wrong port is an error with an example', () => {
  for (const [url, complaint] of [
    ['postgres://u@h', /^look like postgres:\/\/USER:PASSWORD@HOST:5432\/DATABASE\./],
    ['postgres://u@h/', /^look like/],
    ['postgres://u@h:/x', /^look like/],
    ['postgres://u@h/x#y', /^look like/],
    ['postgres://u@h/x y', /^look like/],
    ['postgres://u@[::1/x', /^look like/],
    ['postgres:///x', /^name a host, .* socket, as in postgres:\/\/USER@\/DATABASE\?host=\/run/],
    ['postgres://u@/x?host=', /^name a host/],
    ['postgres:///x?host=a,', /^name a host/],
    ['postgres://h/x?port=1,2', /^have one port, or one for each host, not 2 ports$/],
    ['postgres://h/x?port=x', /^have a port from 1 to 65535$/],
    ['postgres://h:65536/x', /^have a port from 1 to 65535$/],
    ['postgres://h:0/x', /^have a port from 1 to 65535$/],
  ] as const)
    assert.match(readingOf(url), complaint, url)
})

test('reserved characters in a password get the sentence that helps, without the password', () => {
  for (const password of ['hun@ter2', 'hun/ter2', 'hun#ter2', 'hun?ter2', 'hun ter2', '12/hunter2'])
    for (const rest of ['db:5432/x', 'db/x', 'db']) {
      const complaint = readingOf(`postgres://u:${password}@${rest}`)
      assert.match(complaint, /Percent-encode reserved characters in the password: %40 for @, %2F/)
      assert.doesNotMatch(complaint, /ter2|hun/)
    }
})

test('modes of TLS that contradict another parameter are errors', () => {
  const root = 'sslrootcert=/ca.pem'
  for (const [query, complaint] of [
    ['sslmode=verify-ca', 'have sslrootcert with sslmode=verify-ca, or sslmode=verify-full'],
    ['sslmode=require&sslrootcert=system', 'have sslmode=verify-full with sslrootcert=system'],
    ['sslnegotiation=x', 'have one of postgres, direct as sslnegotiation, not "x"'],
    [
      'sslmode=prefer&sslnegotiation=direct',
      'have sslmode=require, verify-ca or verify-full with sslnegotiation=direct',
    ],
  ] as const)
    assert.equal(readingOf(`postgres://h/x?${query}`), complaint)
  for (const query of [
    `sslmode=verify-ca&${root}`,
    'sslrootcert=system',
    'sslmode=verify-full&sslrootcert=system',
    'sslmode=require&sslnegotiation=direct',
    'sslnegotiation=postgres',
  ])
    assert.equal(readingOf(`postgres://h/x?${query}`), ':@h:5432/x')
})
