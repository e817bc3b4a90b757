import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Overloaded } from '../../src/listing/accounts.ts'
import { NotCopied } from '../../src/listing/copy.ts'
import { AuthenticationFault, ListFault, NotConfigured } from '../../src/listing/faults.ts'

test('a fault is told by its name, which is what a log shows of it', () => {
  for (const Fault of [AuthenticationFault, ListFault, NotConfigured, NotCopied, Overloaded])
    assert.equal(String(new Fault('why')), `${Fault.name}: why`)
})
