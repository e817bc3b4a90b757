import assert from 'node:assert/strict'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  findUnwritten,
  isReleased,
  releasedVersions,
  versionOfTree,
} from '../../scripts/release/changelog.ts'
import { findOtherPlaces, findOtherVersions, setPlace } from '../../scripts/release/names.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { ROOT } from '../fixtures/tree.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const readRaised = (path: string) =>
  path === 'package.json' ? '{"version":"0.9.0"}' : read(path).replaceAll(versionOfTree(), '0.1.9')

test('every file that names the version of the project names the one of package.json', () => {
  assert.deepEqual(findOtherVersions(read), [])
})

test('a file that names another version is an obstacle to a release', () => {
  const sentences = findOtherVersions(readRaised)
  assert.ok(
    sentences.includes('client/package.json names version 0.1.9, and package.json has 0.9.0'),
  )
  assert.equal(new Set(sentences.map((each) => each.split(' ')[0])).size, 9)
})

test('every file names the place of package.json, or none if the owner has set none', () => {
  assert.deepEqual(findOtherPlaces(read), [])
})

test('one command writes the place into each file, again and anew', (t) => {
  const root = temporaryFolder(t)
  const readCopy = (path: string) => readFileSync(join(root, path), 'utf8')
  const paths = new Set<string>()
  findOtherPlaces((path) => {
    paths.add(path)
    cpSync(join(ROOT, path), join(root, path))
    return read(path)
  })
  const texts = () => [...paths].map(readCopy)

  assert.deepEqual(setPlace(root, 'https://github.com/Example/first-place'), [])
  assert.deepEqual(findOtherPlaces(readCopy), [])
  const { repository, homepage, bugs } = JSON.parse(readCopy('client/package.json'))
  assert.equal(repository.url, 'git+https://github.com/Example/first-place.git')
  assert.equal(homepage, 'https://github.com/Example/first-place#readme')
  assert.equal(bugs, 'https://github.com/Example/first-place/issues')
  const image = `    image: ghcr.io/example/first-place:${versionOfTree()}\n    build:\n`
  assert.ok(readCopy('deploy/compose/sqlite.yaml').includes(image))
  for (const path of paths) assert.match(readCopy(path), /example\/first-place/i, path)

  const first = texts()
  assert.deepEqual(setPlace(root, 'https://github.com/Example/first-place'), [])
  assert.deepEqual(texts(), first)
  assert.deepEqual(setPlace(root, 'https://github.com/other/place.js'), [])
  assert.doesNotMatch(texts().join(''), /first-place/)

  const second = texts()
  for (const url of [
    '',
    'github.com/a/b',
    'https://github.com/a',
    'https://github.com/a/b/',
    'https://github.com/a/b.git',
    'https://gitlab.com/a/b',
  ])
    assert.deepEqual(setPlace(root, url), [
      `the place must be https://github.com/OWNER/NAME, not "${url}"`,
    ])
  writeFileSync(join(root, 'SECURITY.md'), read('SECURITY.md').replaceAll('*', ''))
  const [problem, ...others] = setPlace(root, 'https://github.com/Example/first-place')
  assert.match(problem!, /^SECURITY\.md lacks .*place\.js/)
  assert.deepEqual(others, [])
  assert.deepEqual(texts().slice(0, -1), second.slice(0, -1))
})

test('a release needs its heading with a date, its text, and nothing left under Unreleased', () => {
  const text = '# Changelog\n\n## Unreleased\n\n- new\n\n## 0.1.0 - 2026-12-01\n\n- first\n'
  assert.match(findUnwritten(text, '0.2.0')[0]!, /no heading "## 0\.2\.0 - YYYY-MM-DD"/)
  assert.match(findUnwritten(text, '0.1.0')[0]!, /changes under "## Unreleased"/)
  assert.deepEqual(findUnwritten(text.replace('- new', ''), '0.1.0'), [])
  assert.deepEqual(findUnwritten('## 0.1.0 - 2026-12-01\n\n- first\n', '0.1.0'), [])
  assert.deepEqual(findUnwritten('## 0.1.0 - 2026-12-01\n\n', '0.1.0'), [
    'CHANGELOG.md says nothing about 0.1.0',
  ])
})

test('a version without a date, or with a longer number, is not released', () => {
  assert.equal(isReleased('0.1.0', '## 0.1.0 - 2026-12-01\n'), true)
  for (const heading of [
    '## 0.1.0',
    '## 0.1.0 - soon',
    '## 0.1.0-rc.1 - 2026-12-01',
    '## 10.1.0 - 2026-12-01',
  ])
    assert.equal(isReleased('0.1.0', `${heading}\n`), false, heading)
})

test('the released versions are in the order of their release', () => {
  const text = '## Unreleased\n\n## 0.10.0 - 2026-12-02\n\n## 0.9.0 - 2026-12-01\n'
  assert.deepEqual(releasedVersions(text), ['0.9.0', '0.10.0'])
})
