import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trimAddress } from '../../src/servers/address.ts'
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
    'a b',
    'a:',
    'a:0',
    'a:65536',
    'a:1x',
    'a: 1',
    '[::1]x',
    'x[::1]',
    '[]',
    '[fe80::1%eth0]',
    '[::\n1]',
    '[@[::1]',
    'a.\nb',
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

/** What people type or paste, and the address in it. */
const TYPED = [
  ['https://play.example.com', 'play.example.com'],
  ['HTTP://play.example.com/', 'play.example.com'],
  ['minecraft://play.example.com:25570', 'play.example.com:25570'],
  ['mc://play.example.com', 'play.example.com'],
  ['steam://connect/192.0.2.1:27015', '192.0.2.1:27015'],
  ['steam://connect/192.0.2.1:27015/', '192.0.2.1:27015'],
  ['fivem://connect/play.example.com', 'play.example.com'],
  ['https://[2001:db8::1]:19132/', '[2001:db8::1]:19132'],
  ['https://müller.example./', 'müller.example'],
  ['play.example.com/', 'play.example.com'],
] as const

test('an address loses a scheme and a slash', () => {
  for (const [typed, address] of TYPED)
    for (const mayStay of [true, false]) assert.equal(trimAddress(typed, mayStay), address, typed)
})

test('an address loses a dot at its end, unless a server may be stored with it', () => {
  for (const [typed, address] of [
    ['play.example.com.', 'play.example.com'],
    ['play.example.com.:25570', 'play.example.com:25570'],
  ] as const)
    assert.equal(trimAddress(typed, false), address)
  assert.equal(trimAddress('play.example.com.', true), 'play.example.com.')
})

test('a text without an address in it stays as it is', () => {
  for (const typed of [
    '',
    ' ',
    '/',
    'https://',
    'https:///',
    'https://play.example.com/join',
    'https://play.example.com//',
    'https://ada@play.example.com',
    'minecraft://?addExternalServer=A|play.example.com',
    'steam://run/892970',
    'https://2001:db8::1/',
    '2001:db8::1',
    'https://play.example.com:0/',
    'https://192.0.2.256/',
    'a b/',
    '//play.example.com',
    `https://${'/'.repeat(16_000)}`,
  ])
    for (const mayStay of [true, false]) assert.equal(trimAddress(typed, mayStay), typed, typed)
})

function complaintOf(address: string): string {
  const inspected = inspectEntry({ name: 'a', address })
  return 'wrong' in inspected ? inspected.wrong.join() : ''
}

function isValid(address: string): boolean {
  return complaintOf(address) === ''
}
