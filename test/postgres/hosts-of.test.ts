import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { NotConfigured } from '../../src/model/faults.ts'
import { unusable } from '../../src/postgres/refusals.ts'
import { HostClient, hostsOf } from '../../src/postgres/hosts.ts'
import { temporaryFolder } from '../fixtures/folder.ts'

/*
 * The servers that a DATABASE_URL names, and what the operator reads when a server refuses.
 */

test('each host of a URL is tried with its port and with the mode of TLS', () => {
  for (const [url, tried] of [
    ['postgres://ada:secret@a:1,b,[::1]:3/x', ['a:1 disable', 'b:5432 disable', '::1:3 disable']],
    ['postgres://a/x?sslmode=require', ['a:5432 require']],
    [
      'postgres://a,b/x?sslmode=prefer',
      ['a:5432 require', 'a:5432 disable', 'b:5432 require', 'b:5432 disable'],
    ],
    // Without a mode, what only TLS needs asks for all of it.
    ['postgres://a/x?sslrootcert=system', ['a:5432 verify-full']],
    ['postgres://a/x?sslnegotiation=direct', ['a:5432 verify-full']],
    // A Unix socket has no TLS, as in PostgreSQL's own programs.
    ['postgres://a/x?host=/run,b&sslmode=require', ['/run:5432 disable', 'b:5432 require']],
  ] as const)
    assert.deepEqual(allOf(url), tried, url)
})

test('a failed host is followed by the next one, and the last by the first', () => {
  const hosts = hostsOf('postgres://a,b,c/x')
  assert.equal(hosts.count, 3)
  const seen = [0, 1, 2, 3].map(() => {
    const attempt = hosts.current()
    assert.equal(hosts.current(), attempt)
    hosts.avoid(attempt)
    return attempt.host
  })
  assert.deepEqual(seen, ['a', 'b', 'c', 'a'])
})

test('only the first of several calls that saw a host fail moves on', () => {
  const hosts = hostsOf('postgres://a,b,c/x')
  const failed = hosts.current()
  hosts.avoid(failed)
  hosts.avoid(failed)
  assert.equal(hosts.current().host, 'b')
})

test('a file for TLS is read at each attempt, and one that is no text has a sentence', (t) => {
  const folder = temporaryFolder(t)
  const [file, pipe, empty] = ['file', 'pipe', 'empty'].map((name) => join(folder, name))
  execFileSync('mkfifo', [pipe!])
  writeFileSync(empty!, '\n')
  for (const [name, part] of [
    ['sslrootcert', 'ca'],
    ['sslcert', 'cert'],
    ['sslkey', 'key'],
  ] as const) {
    const attempt = (path: string) => hostsOf(`postgres://a/x?${name}=${path}`).current()
    for (const [path, complaint] of [
      [join(folder, 'none'), 'does not exist'],
      [folder, 'is a folder'],
      [empty!, 'is empty'],
      [pipe!, 'is empty'],
      ['/dev/zero', 'is larger than 1 MB'],
    ] as const)
      assert.throws(() => new HostClient(attempt(path), {}), {
        name: 'NotConfigured',
        message: `cannot read the file "${path}" that DATABASE_URL names as ${name}: it ${complaint}`,
      })
    writeFileSync(file!, 'a certificate')
    const { ssl } = new HostClient(attempt(file!), {}) as unknown as { ssl: Record<string, string> }
    assert.equal(ssl[part], 'a certificate')
  }
})

test('only a lasting refusal becomes a sentence for the operator', () => {
  const sentences: [code: string, sentence: RegExp, routine?: string][] = [
    ['28P01', /the server refuses the user name or the password$/],
    ['28000', /the server does not let this user in from here$/],
    ['3D000', /the server has no database of that name$/],
    [
      '42501',
      /no such file. The user must own the database, or the first schema/,
      'aclcheck_error',
    ],
    [
      '42501',
      /no such file. The user must own the database, or the first schema/,
      'CheckMyDatabase',
    ],
    ['EACCES', /the system does not let this user connect: no such file$/],
  ]
  for (const [code, sentence, routine] of sentences) {
    const error = Object.assign(new Error('no such file'), { code, routine })
    const fault = unusable(error)
    assert.ok(fault instanceof NotConfigured)
    assert.match(fault.message, /^cannot use the database of DATABASE_URL: /)
    assert.match(fault.message, sentence)
    assert.equal(fault.cause, error)
  }
  const own = new NotConfigured('too old')
  assert.equal(unusable(own), own)
  const others = [
    { code: '57P03' },
    { code: '42501', routine: 'mdopenfork' },
    { code: '42501', routine: 'mdopenfork', severity: 'FATAL' },
    { code: '42501' },
    {},
  ]
  for (const error of [...others.map((fields) => Object.assign(new Error('x'), fields)), undefined])
    assert.equal(unusable(error), null)
})

/** The attempts in their order. */
function allOf(url: string): string[] {
  const hosts = hostsOf(url)
  return Array.from({ length: hosts.count }, () => {
    const attempt = hosts.current()
    hosts.avoid(attempt)
    return `${attempt.host}:${attempt.port} ${attempt.sslMode}`
  })
}
