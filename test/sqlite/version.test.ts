import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NotConfigured } from '../../src/model/faults.ts'
import { assertSafeVersion } from '../../src/sqlite/serving-store.ts'

test('a service refuses a SQLite with the WAL-reset bug', () => {
  for (const version of ['3.51.2', '3.50.6', '3.49.1', '3.45.9', '3.44.5', '2.99.9', 'unknown'])
    assert.throws(
      () => assertSafeVersion(version),
      (error: Error) => error instanceof NotConfigured && error.message.includes(` ${version}, `),
      version,
    )
})

test('a service takes each SQLite that has the fix', () => {
  for (const version of ['3.51.3', '3.51.10', '3.52.0', '3.50.7', '3.44.6', '3.44.12', '4.0.0'])
    assert.doesNotThrow(() => assertSafeVersion(version), version)
})

test('the SQLite of this Node.js has the fix', () => {
  assert.doesNotThrow(() => assertSafeVersion())
})
