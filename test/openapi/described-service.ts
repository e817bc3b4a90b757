import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { readDescription } from './description.ts'
import type { Limits } from '../../src/http/limits.ts'
import { startTestService, type TestService } from '../fixtures/service.ts'
import { startValidatingProxy } from './proxy.ts'
import { createValidator } from './validator.ts'

const validate = createValidator(readDescription())

/** A service behind a proxy that compares every answer with docs/openapi.json. */
export async function startDescribedService(
  t: Pick<TestContext, 'after'>,
  limits: Partial<Limits> = {},
): Promise<TestService> {
  const service = await startTestService(t, limits)
  return { ...service, port: await describedPort(t, service.port) }
}

/** The port of a proxy before the API. The test fails if an answer differs from the document. */
export async function describedPort(t: Pick<TestContext, 'after'>, port: number): Promise<number> {
  const proxy = await startValidatingProxy(port, validate)
  t.after(() => {
    proxy.close()
    assert.deepEqual(proxy.complaints, [])
  })
  return proxy.port
}
