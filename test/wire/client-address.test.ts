import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReadAddress, createReadPeer } from '../../src/http/client-address.ts'

test("without trusted proxies the socket's address counts, whatever X-Forwarded-For says", () => {
  const read = createReadAddress([])
  assert.equal(read('203.0.113.7', '198.51.100.1'), '203.0.113.7')
  assert.equal(read('203.0.113.7', undefined), '203.0.113.7')
})

test('all spellings of an IPv4 address count as one', () => {
  const read = createReadAddress([])
  const spellings = ['::ffff:203.0.113.7', '::ffff:cb00:7107', '0:0:0:0:0:FFFF:203.0.113.7']
  for (const address of [...spellings, '0::ffff:203.0.113.7'])
    assert.equal(read(address, undefined), '203.0.113.7')
  assert.equal(read('1::ffff:203.0.113.7', undefined), '1:0:0:0::/64')
})

test('an IPv6 address counts by its /64 network', () => {
  const read = createReadAddress([])
  for (const address of ['2001:db8:1:2::1', '2001:DB8:1:2:ffff:ffff:ffff:ffff'])
    assert.equal(read(address, undefined), '2001:db8:1:2::/64')
  assert.equal(read('fe80::1%eth0', undefined), 'fe80:0:0:0::/64')
  assert.equal(read('::1', undefined), '0:0:0:0::/64')
})

test('X-Forwarded-For is read from its end, past trusted proxies only', () => {
  const read = createReadAddress(['127.0.0.1', '10.0.0.0/8', 'fd00::/8'])
  assert.equal(read('127.0.0.1', '198.51.100.1'), '198.51.100.1')
  assert.equal(read('::ffff:127.0.0.1', '6.6.6.6, 198.51.100.1, 10.1.2.3'), '198.51.100.1')
  assert.equal(read('fd00::1', '2001:db8::5'), '2001:db8:0:0::/64')
  assert.equal(read('127.0.0.1', '10.0.0.1, 10.0.0.2'), '10.0.0.1')
  // Some proxies add the port.
  assert.equal(read('127.0.0.1', '198.51.100.1:4711'), '198.51.100.1')
  for (const port of ['', ':4711'])
    assert.equal(read('127.0.0.1', `[2001:db8::5]${port}`), '2001:db8:0:0::/64')
  const unclear = ['[evil]:80', 'x[2001:db8::5]:80', '[2001:db8::5]:80x', '[2001:db8::5]x']
  for (const nonsense of ['', 'evil', '1.2.3.4.5', '"1.2.3.4"', ...unclear])
    assert.equal(read('127.0.0.1', nonsense), '127.0.0.1')
})

test('connections count by address, except those of a trusted proxy and of this machine', () => {
  const read = createReadPeer(['10.0.0.1', 'fd00::/8'])
  for (const proxy of ['10.0.0.1', '::ffff:10.0.0.1', 'fd00::1']) assert.equal(read(proxy), null)
  for (const local of ['127.0.0.1', '127.9.9.9', '::ffff:127.0.0.1', '::1'])
    assert.equal(read(local), null)
  assert.equal(read('203.0.113.7'), '203.0.113.7')
  assert.equal(read('::ffff:203.0.113.7'), '203.0.113.7')
  assert.equal(read('2001:db8:1:2::1'), '2001:db8:1:2::/64')
})
