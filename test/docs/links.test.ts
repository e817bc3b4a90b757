import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { readDocument } from './document.ts'
import { filesBelow, ROOT } from '../fixtures/tree.ts'

/*
 * The links of every document in the repository. External links are only checked for their form,
 * because the tests use no network.
 */

const documents = filesBelow('.', '.md').map(({ path, text }) => readDocument(path, text))
const anchorsOf = new Map(documents.map(({ path, anchors }) => [path, anchors]))
const links = documents.flatMap(({ path, links: targets }) =>
  targets.map((target) => ({ path, target })),
)
const isExternal = (target: string) => /^[a-z]+:/i.test(target)

test('every link within the repository leads to a file, and every anchor to a heading', () => {
  const own = links.filter(({ target }) => !isExternal(target))
  assert.ok(own.length > 200, `${own.length} links`)
  const broken = own.filter(({ path, target }) => {
    const [file = '', anchor] = target.split('#')
    const found = normalize(file === '' ? path : join(dirname(path), decodeURI(file)))
    if (file.startsWith('/') || !existsSync(join(ROOT, found))) return true
    return anchor !== undefined && !anchorsOf.get(found)?.includes(anchor)
  })
  assert.deepEqual(broken, [])
})

test('every external link is an https URL of a public host', () => {
  const wrong = links
    .filter(({ target }) => isExternal(target))
    .filter(({ target }) => {
      if (!URL.canParse(target)) return true
      const { protocol, hostname, username } = new URL(target)
      return protocol !== 'https:' || !hostname.includes('.') || username !== ''
    })
  assert.deepEqual(wrong, [])
})

test('a heading has the anchor that GitHub gives it', () => {
  const text =
    '# A `b-c` (d), *e*: F_g!\n\n## Same\n\n## Same\n\n```\n# No heading\n```\n\n## Über 2 × 3\n'
  assert.deepEqual(readDocument('a.md', text).anchors, [
    'a-b-c-d-e-f_g',
    'same',
    'same-1',
    'über-2--3',
  ])
})

test('the documents name no tag that Markdown would swallow', () => {
  for (const { path } of documents) {
    const text = readFileSync(join(ROOT, path), 'utf8')
    const outside = text.replace(/^( *)```[\s\S]*?^\1```/gm, '').replace(/`[^`]*`/g, '')
    assert.doesNotMatch(outside, /<(?!!--)\/?[a-z]/i, path)
  }
})
