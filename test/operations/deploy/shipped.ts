import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../../src/config/config.ts'
import { NAMED_SETTINGS } from '../../../src/config/settings.ts'
import { ROOT } from '../../fixtures/tree.ts'

/** The last one is for the C library. */
export const KNOWN = new Set<string>([
  ...NAMED_SETTINGS.map(([name]) => name),
  'NODE_ENV',
  'MALLOC_ARENA_MAX',
])

export function assertAccepted(environment: Record<string, string>): void {
  for (const name of Object.keys(environment)) assert.ok(KNOWN.has(name), name)
  const read = readConfig(environment)
  assert.ok('config' in read, JSON.stringify(read))
}

export function imageEnvironment(): Record<string, string> {
  const [, block = ''] = /^ENV (.*?[^\\])$/ms.exec(dockerfile())!
  const pairs = [...block.matchAll(/([A-Z_]+)=(\S+)/g)]
  assert.equal(pairs.length, 4, block)
  return Object.fromEntries(pairs.map(([, name, value]) => [name!, value!]))
}

export function dockerfile(): string {
  return readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8')
}

/** The documents of a text in YAML. */
export function readYaml(text: string): unknown[] {
  const toJson = 'import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(sys.stdin))))'
  return JSON.parse(execFileSync('python3', ['-c', toJson], { input: text, encoding: 'utf8' }))
}
