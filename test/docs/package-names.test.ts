import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keySettingsFor, snippetsFor } from '../../src/keys/pages/snippets.ts'
import { filesBelow, filesIn } from '../fixtures/tree.ts'

/*
 * No page or document tells people to install a package by a name that this project does not own.
 * Another person could register the name and get the keys of our users.
 */

/** Packages of others that a reader may install or run by their names. */
const FOREIGN = new Set(['node@24', 'npm@10', 'secretlint'])

/** A command that fetches a package by its name, with its arguments. */
const INSTALL = new RegExp(
  `\\b(?:${[
    'npm (?:install|i|add|exec|create)',
    '(?:pnpm|yarn) (?:add|dlx)',
    'npx',
    'bunx',
    '(?:bun|deno|cargo) (?:add|install)',
    'pipx? install',
    'pip3 install',
    'go (?:get|install)',
    'composer require',
    'gem install',
    'dotnet add package',
  ].join('|')})((?:[ \\t]+(?:[\\w@./:$~{}-]+|"[^"\\n]*"|'[^'\\n]*'))+)`,
  'g',
)
/** A folder, a file, a URL, or text that stands for one. */
const PLACE = /^["']?(?:\.{0,2}\/|~|\$|https?:)|\.tgz\b/

test('documents and pages install only what this project serves, or a known package of others', () => {
  const named = [...documents(), ...pages()].flatMap(({ path, text }) =>
    namesIn(text).map((name) => `${path}: ${name}`),
  )
  const unknown = named.filter((each) => !FOREIGN.has(each.split(': ')[1]!))
  assert.deepEqual(unknown, [])
})

test('a name is found in each form of an install command', () => {
  for (const [command, names] of [
    ['npm install server-listing-client', ['server-listing-client']],
    ['// npm i -D @scope/name', ['@scope/name']],
    ['npx server-listing user add', ['server-listing']],
    ['pip install requests', ['requests']],
    ['`npx --no-install server-listing user add`', []],
    ['npm install --global --prefix /opt/server-listing ./server-listing-0.1.0.tgz', []],
    ['npm install --prefix "$PWD/program" ./server-listing-0.1.0.tgz', []],
    ['npm install http://127.0.0.1:8081/docs/server-listing-client.tgz', []],
    ['where the operator ran `npm install`, or npx', []],
  ] as const)
    assert.deepEqual(namesIn(command), names, command)
})

/** The names that the commands in a text fetch. `npx` runs one program with its own arguments. */
function namesIn(text: string): string[] {
  return [...text.matchAll(INSTALL)].flatMap(([command, args = '']) => {
    const words = args.trim().split(/\s+/)
    const isRun = /^(?:npx|bunx)\b/.test(command)
    // It runs what is installed, and fetches nothing.
    if (isRun && words.includes('--no-install')) return []
    const names = words.filter((word) => !word.startsWith('-') && !PLACE.test(word))
    return isRun ? names.slice(0, 1) : names
  })
}

interface Text {
  path: string
  text: string
}

/** What people read. Decisions tell what was once considered. */
function documents(): Text[] {
  const all = [
    ...filesIn('.', '.md'),
    ...filesIn('client', '.md'),
    ...filesBelow('docs', '.md'),
    ...filesBelow('docs/clients', ''),
    ...filesBelow('docs/examples', ''),
    ...filesBelow('deploy', ''),
    ...filesBelow('demo', '.ts'),
    ...filesBelow('src', '.ts').filter(({ path }) => /\/(dashboard|pages|web)\//.test(path)),
  ]
  return all
    .filter(({ path }) => !path.startsWith('docs/decisions/'))
    .map(({ path, text }) => ({ path, text: path.endsWith('.md') ? codeOf(text) : text }))
}

/** The blocks of code and the code within sentences. */
function codeOf(markdown: string): string {
  return [...markdown.matchAll(/^ *```.*?^ *```|`[^`\n]+`/gms)].map(([code]) => code).join('\n')
}

function pages(): Text[] {
  const snippets = [...keySettingsFor('svc_live_…'), ...snippetsFor('https://api.example.com')]
  return snippets.flatMap(({ label, blocks }) =>
    blocks.map(({ code }) => ({ path: `the snippet ${label}`, text: code })),
  )
}
