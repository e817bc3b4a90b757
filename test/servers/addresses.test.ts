import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspectEntry } from '../../src/servers/server-entry.ts'

test('an address is a domain or an IP address with an optional port', () => {
  const good = [
    'example.com',
    'a',
    'mc.exämple.de:1',
    '1.2.3.4:65535',
    '[::1]',
    '[2001:db8::1]:19132',
    'a_b.example',
    'x.y.',
  ]
  for (const address of good) assert.ok(isValid(address), address)
  const bad = [
    '',
    ' a',
    'a b',
    'a:',
    'a:0',
    'a:65536',
    'a:1x',
    'a: 1',
    'a:1 ',
    '[::1]x',
    'x[::1]',
    '[]',
    '[fe80::1%eth0]',
    '[::\n1]',
    '[@[::1]',
    'a.b\n',
    '::1',
    '[::1',
    '[zz]',
    'http://a',
    'a/b',
    '-a.com',
    'a..b',
    `${'a'.repeat(64)}.com`,
  ]
  for (const address of bad) assert.ok(!isValid(address), address)
})

test('an address that ends in a number is an IPv4 address', () => {
  for (const address of [
    '192.0.2.1',
    '192.0.2.1:25565',
    'play.192.example',
    '7.example',
    '0x.example',
  ])
    assert.ok(isValid(address), address)
  for (const address of [
    '192.0.2.256',
    '999.1.1.1:25565',
    '192.0.2',
    '1.2.3.4.5',
    '192.0.2.007',
    '0x7f.1',
  ])
    assert.match(
      complaintOf(address),
      /"address" ends in a number, so it must be an IPv4 address such as 192\.0\.2\.1: "/,
    )
})

test('an IPv6 address needs brackets', () => {
  for (const address of ['2001:db8::1', '2001:db8::1:19132', '::1', '::ffff:192.0.2.1'])
    assert.match(complaintOf(address), /must have brackets .*\[2001:db8::1\]:19132: "/)
})

function complaintOf(address: string): string {
  const inspected = inspectEntry({ name: 'a', address })
  return 'wrong' in inspected ? inspected.wrong.join() : ''
}

function isValid(address: string): boolean {
  return complaintOf(address) === ''
}
