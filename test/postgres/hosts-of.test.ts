import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NotConfigured } from '../../src/model/faults.ts'
import { unusable } from '../../src/postgres/refusals.ts'
import { hostsOf } from '../../src/postgres/hosts.ts'

/*
 * The servers that a DATABASE_URL names, and what the operator reads when a server refuses.
 */

test('each host of a URL becomes a URL with all its other parts', () => {
  assert.deepEqual(allOf('postgres://ada:secret@a:1,b,[::1]:3/listing?x=1#y'), [
    'postgres://ada:secret@a:1/listing?x=1#y',
    'postgres://ada:secret@b/listing?x=1#y',
    'postgres://ada:secret@[::1]:3/listing?x=1#y',
  ])
  for (const url of [
    'POSTGRESQL://a',
    'postgres://a/b',
    'postgres:///b',
    'postgres://a?x=,',
    'postgres://a#,',
  ])
    assert.deepEqual(allOf(url), [url])
  assert.deepEqual(allOf('postgres://ada,@a,b'), ['postgres://ada,@a', 'postgres://ada,@b'])
})

test('a failed host is followed by the next one, and the last by the first', () => {
  const hosts = hostsOf('postgres://a,b,c')
  assert.equal(hosts.count, 3)
  const seen = [0, 1, 2, 3].map(() => {
    const url = hosts.current()
    assert.equal(hosts.current(), url)
    hosts.avoid(url)
    return url.at(-1)
  })
  assert.deepEqual(seen, ['a', 'b', 'c', 'a'])
})

test('only the first of several calls that saw a host fail moves on', () => {
  const hosts = hostsOf('postgres://a,b,c')
  const failed = hosts.current()
  hosts.avoid(failed)
  hosts.avoid(failed)
  assert.equal(hosts.current(), 'postgres://b')
})

test('sslmode means what it means elsewhere, and prefer tries one mode and then the other', () => {
  assert.deepEqual(allOf('postgres://a/b?sslmode=require'), [
    'postgres://a/b?sslmode=require&uselibpqcompat=true',
  ])
  assert.deepEqual(allOf('postgres://a,b/c?x=1&sslmode=prefer&y=2'), [
    'postgres://a/c?x=1&sslmode=require&y=2&uselibpqcompat=true',
    'postgres://a/c?x=1&sslmode=disable&y=2&uselibpqcompat=true',
    'postgres://b/c?x=1&sslmode=require&y=2&uselibpqcompat=true',
    'postgres://b/c?x=1&sslmode=disable&y=2&uselibpqcompat=true',
  ])
  assert.deepEqual(allOf('postgres://a?xsslmode=require'), ['postgres://a?xsslmode=require'])
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
    ['ENOENT', /no such file, a file that DATABASE_URL names$/],
    ['EACCES', /no such file, a file that DATABASE_URL names$/],
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

/** The URLs in the order of the attempts. */
function allOf(url: string): string[] {
  const hosts = hostsOf(url)
  return Array.from({ length: hosts.count }, () => {
    const current = hosts.current()
    hosts.avoid(current)
    return current
  })
}
