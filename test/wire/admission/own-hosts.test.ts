import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOwnHosts } from '../../../src/http/admission/own-hosts.ts'

const FOREIGN = [
  'evil.example',
  'evil.example:8082',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
]
const OWN = [
  '',
  undefined,
  'localhost',
  'LOCALHOST:8082',
  '127.0.0.1:8082',
  '192.0.2.1',
  '[::1]:8082',
  '[::1]',
]

test('on a loopback address only IP addresses, localhost and the configured names are own hosts', () => {
  for (const listening of ['127.0.0.1', '127.0.1.1', '::1', '::ffff:127.0.0.1']) {
    const hosts = createOwnHosts(['Listing.example.com'])
    hosts.listenOn(listening)
    for (const host of [...OWN, 'listing.example.com', 'LISTING.example.com:443'])
      assert.equal(hosts.has(host), true, host)
    for (const host of [...FOREIGN, 'a.listing.example.com', 'localhost.', '[::1', 'localhost:x'])
      assert.equal(hosts.has(host), false, host)
  }
})

test('on any other address every name is, because names of the network lead there', () => {
  for (const listening of ['0.0.0.0', '::', '192.0.2.1', '2001:db8::1']) {
    const hosts = createOwnHosts([])
    hosts.listenOn(listening)
    for (const host of [...OWN, ...FOREIGN]) assert.equal(hosts.has(host), true, host)
  }
})
