import { hashApiKey } from '../../src/model/key-hash.ts'
import { PASSWORD } from '../fixtures/dashboard.ts'
import type { Names } from './names.ts'

/** What later acts need of the answers to earlier ones. */
export interface Kept {
  /** Puts ids and kept values where a text names them, such as `<key:bot>` or `<secret:bot>`. */
  put(text: string): string
  /** Keeps the keys, the token of a link and the plan of an import that an output shows. */
  keep(output: string): void
  /** Names the keys that were shown since the last act. */
  nameKeys(): void
}

export function createKept(names: Names, folder: string): Kept {
  const kept = new Map([
    ['folder', folder],
    ['password', PASSWORD],
  ])
  const shown: string[] = []
  return {
    put: (text) =>
      text.replaceAll(/<([^<>]+)>/g, (_, name: string) => kept.get(name) ?? names.find(name)),
    keep(output) {
      const token = /\/(?:link|setup)\/([\w-]+)/.exec(output)?.[1]
      if (token !== undefined) kept.set('token', token)
      const plan = /name="plan" value="(\w+)"/.exec(output)?.[1]
      if (plan !== undefined) kept.set('plan', plan)
      shown.push(...(output.match(/svc_live_[0-9a-f]{64}/g) ?? []))
    },
    nameKeys() {
      for (const key of shown.splice(0)) {
        const name = names.of(hashApiKey(key).toString('hex'))
        if (name !== undefined) kept.set(name.replace('hash:', 'secret:'), key)
      }
    },
  }
}
