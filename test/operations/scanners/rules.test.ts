import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { generateKey } from '../../../src/keys/api-key.ts'
import { findKeys } from '../../../src/keys/leaked-keys.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ROOT } from '../../fixtures/tree.ts'

/*
 * The rules for secret scanners in deploy/secret-scanners/. Only secretlint runs here. The others
 * get the same strings through the expressions of their files.
 */

const RULES = join(ROOT, 'deploy/secret-scanners')
const TOOLS = join(ROOT, 'test/operations/scanners/tools')

const KEY = generateKey()
const BODY = KEY.slice('svc_live_'.length)

const KEYS = [
  KEY,
  `Authorization: Bearer ${KEY}`,
  `{"api_key":"${KEY}"}`,
  `KEY=${KEY}\r\nOTHER=1`,
  `https://example.com/?key=${KEY}&x`,
  `- '${KEY}',`,
  `svc_live_${BODY.toUpperCase()}`,
  `svc_live_${'0'.repeat(64)}`,
]
/** GitHub wants a sign that is neither letter nor digit at both ends. */
const GLUED_KEYS = [`x${KEY}y`, `${KEY}0`, `${KEY}${KEY}`]
const OTHERS = [
  '',
  KEY.slice(0, 16),
  KEY.slice(0, -1),
  BODY,
  `svc_live_${BODY.slice(1)}g`,
  `svc_test_${BODY}`,
  `svc-live-${BODY}`,
  `svc_live_ ${BODY}`,
  `svc_live_${BODY.slice(0, 32)}-${BODY.slice(32)}`,
  `SVC_LIVE_ sha256:${BODY}`,
]

test('the expression of each file finds every key, and nothing else', () => {
  const [gitleaks, trufflehog, github] = [readGitleaks(), readTrufflehog(), readGithub()]
  for (const pattern of [gitleaks, trufflehog, github]) {
    // RE2 and Hyperscan know neither of these: looking around, references to groups.
    assert.doesNotMatch(pattern, /\(\?[=!<]|\\[1-9k]/)
    const expression = new RegExp(pattern)
    for (const text of [...KEYS, ...GLUED_KEYS]) {
      assert.match(text, expression)
      assert.equal(findKeys(text).length > 0, true, 'the service finds the same')
    }
    for (const text of OTHERS) assert.doesNotMatch(text, expression)
  }
  // What GitHub puts around the expression by default.
  const surrounded = new RegExp(`(?:^|[^0-9A-Za-z])(?:${github})(?:$|[^0-9A-Za-z])`, 'm')
  for (const text of KEYS) assert.match(text, surrounded)
  for (const text of [...OTHERS, ...GLUED_KEYS]) assert.doesNotMatch(text, surrounded)
})

test('secretlint with the shipped file finds every key, and nothing else', (t) => {
  const found = [...KEYS, ...GLUED_KEYS]
  assert.deepEqual(runSecretlint(t, [...found, ...OTHERS]), [
    ...found.map(() => true),
    ...OTHERS.map(() => false),
  ])
})

function readGitleaks(): string {
  const read = 'import json, sys, tomllib; print(json.dumps(tomllib.load(sys.stdin.buffer)))'
  const input = readFileSync(join(RULES, 'gitleaks.toml'))
  const { extend, rules } = JSON.parse(execFileSync('python3', ['-c', read], { input }).toString())
  assert.deepEqual(extend, { useDefault: true })
  assert.equal(rules.length, 1)
  assertKeywords(rules[0].keywords)
  return rules[0].regex
}

function readTrufflehog(): string {
  const { load } = createRequire(join(TOOLS, 'package.json'))('js-yaml')
  const { detectors } = load(readFileSync(join(RULES, 'trufflehog.yaml'), 'utf8'))
  assert.equal(detectors.length, 1)
  assertKeywords(detectors[0].keywords)
  return detectors[0].regex.key
}

/** A scanner reads a text only if it has one of the keywords. */
function assertKeywords(keywords: string[]): void {
  for (const text of KEYS) assert.ok(keywords.some((word) => text.includes(word)))
}

function readGithub(): string {
  const text = readFileSync(join(RULES, 'github.md'), 'utf8')
  return /^\| Secret format \| `(.*)` \|$/m.exec(text)![1]!
}

/** Whether secretlint finds something in each text, in a file of its own. */
function runSecretlint(t: TestContext, texts: readonly string[]): boolean[] {
  const folder = temporaryFolder(t)
  const paths = texts.map((_, index) => join(folder, `${index}.txt`))
  for (const [index, path] of paths.entries()) writeFileSync(path, texts[index]!)
  const rules = join(RULES, 'secretlintrc.json')
  const program = join(TOOLS, 'node_modules/secretlint/bin/secretlint.js')
  const options = ['--secretlintrc', rules, '--format', 'json', '--no-gitignore']
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, ...options, join(folder, '*.txt')],
    { cwd: TOOLS, encoding: 'utf8' },
  )
  assert.equal(status, 1, stderr)
  const reports = JSON.parse(stdout) as { filePath: string; messages: object[] }[]
  const withKey = new Set(
    reports.filter(({ messages }) => messages.length > 0).map(({ filePath }) => filePath),
  )
  return paths.map((path) => withKey.has(path))
}
