import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { printSetupLink } from '../../src/cli/serve/setup-link.ts'
import type { DatabaseConfig } from '../../src/config/database-url.ts'
import { startDashboard, type TestDashboard } from '../fixtures/dashboard.ts'
import type { Fields, Person } from '../fixtures/person.ts'
import { ask } from '../fixtures/requests.ts'
import type { Form } from './act.ts'
import type { Kept } from './kept.ts'
import { nameAttempts, type Names } from './names.ts'

/** The service, and the people at its pages. Each act returns a status or `done`. */
export interface Pages {
  start(): Promise<string>
  end(): Promise<string>
  send(form: Form): Promise<string>
  claim(key: string): Promise<string>
}

export function createPages(
  t: TestContext,
  database: DatabaseConfig,
  names: Names,
  { put, keep }: Kept,
): Pages {
  const people = new Map<string, Person>()
  let dashboard: TestDashboard | undefined

  function personOf(name: string): Person {
    const person = people.get(name) ?? dashboard!.visitor()
    people.set(name, person)
    return person
  }

  return {
    async start() {
      people.clear()
      const settings = { operators: ['eve@example.com'], siteUrl: 'https://example.com' }
      dashboard = await startDashboard(t, { database, ...settings })
      const log = { info: keep, fault: refuse }
      await printSetupLink(dashboard.store.database, '', '', log, new AbortController().signal)
      return 'done'
    },

    async end() {
      assert.deepEqual(dashboard!.faults, [])
      await dashboard!.close()
      return 'done'
    },

    async send({ by, post, fields, file }) {
      const entries = Object.entries(fields).map(([name, value]) => [name, put(value)])
      const typed = Object.fromEntries(entries) as Fields
      if (typed.email !== undefined) nameAttempts(names, typed.email)
      const { status, body } = await (file === undefined
        ? personOf(by).post(put(post), typed)
        : personOf(by).upload(put(post), typed, Buffer.from(file)))
      keep(body)
      return String(status)
    },

    async claim(key) {
      return String((await ask(dashboard!.apiPort, { key: put(key) })).status)
    },
  }
}

function refuse(fault: unknown): never {
  throw fault
}
