import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Overloaded } from '../../src/accounts/sign-in/passwords.ts'
import { AuthenticationFault, ListFault, NotConfigured } from '../../src/model/faults.ts'

test('each fault has its own name, which the log shows', () => {
  for (const Fault of [AuthenticationFault, ListFault, NotConfigured, Overloaded])
    assert.equal(String(new Fault('why')), `${Fault.name}: why`)
})
