import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

type Read = (path: string) => string

/** Files that name the version of the project, and what stands around it there. */
const VERSIONED =
  'package-lock.json client/package.json conform/package.json deploy/Dockerfile ' +
  'deploy/compose/postgres.yaml deploy/compose/sqlite.yaml docs/packages.md ' +
  'docs/operations/install.md docs/operations/upgrade.md'
const VERSION = /(?:^ {2}"version": "|VERSION[=:] ?|server-listing-)(\d\S*?)(?="|\s|\.tgz)/gm

/** A sentence for each file that names another version than package.json. */
export function findOtherVersions(read: Read): string[] {
  const { version } = JSON.parse(read('package.json'))
  return VERSIONED.split(' ').flatMap((path) => {
    const found = new Set([...read(path).matchAll(VERSION)].map(([, named]) => named))
    if (found.size === 0) return [`${path} names no version where it should`]
    return [...found]
      .filter((named) => named !== version)
      .map((named) => `${path} names version ${named}, and package.json has ${version}`)
  })
}

/** What files say of the place of the project, a repository on GitHub, or until it has one. */
function wordsOf(place: string | undefined, version: string): [path: string, words: string][] {
  const either = (set: string, unset: string) => (place === undefined ? unset : set)
  const repository = { type: 'git', url: `git+${place}.git` }
  const fields = { repository, homepage: `${place}#readme`, bugs: `${place}/issues` }
  const lines = either(`${JSON.stringify(fields, null, 2).slice(2, -2)},\n`, '')
  const image = `${place?.replace('https://github.com', 'ghcr.io').toLowerCase()}:${version}`
  const service = `  listing:\n    ${either(`image: ${image}`, 'pull_policy: build')}\n`
  const release = either(
    `\n[release](${place}/releases)\n`,
    ' [release](../packages.md#a-release) ',
  )
  const tab = `the\n[*Security* tab](${place}/security)\nof the repository,`
  return [
    ['package.json', `"license": "MIT",\n${lines}  "type"`],
    ['client/package.json', `"license": "MIT",\n${lines}  "type"`],
    ['deploy/compose/postgres.yaml', service],
    ['deploy/compose/sqlite.yaml', service],
    ['deploy/kubernetes.yaml', ` image: ${either(image, 'server-listing')}\n`],
    ['docs/operations/install.md', `the files of the${release}into`],
    ['docs/packages.md', `Compose ${either(`pulls\n\`${image}\`,\nor else `, '')}builds`],
    [
      'SECURITY.md',
      either(tab, 'the *Security* tab of the repository that you have this file from,'),
    ],
  ]
}

/** The place in package.json, and the version. */
function placeIn(read: Read): [place: string | undefined, version: string] {
  const { repository, version } = JSON.parse(read('package.json'))
  return [repository && `${repository.url}`.replaceAll(/^git\+|\.git$/g, ''), version]
}

/** A sentence for each file that does not name the place in package.json. */
export function findOtherPlaces(read: Read): string[] {
  return wordsOf(...placeIn(read))
    .filter(([path, words]) => !read(path).includes(words))
    .map(([path, words]) => `${path} lacks ${JSON.stringify(words)}, which package.json asks for`)
}

/** Writes this place into each file, or returns sentences that say why not. */
export function setPlace(root: string, url: string): string[] {
  if (!/^https:\/\/github\.com\/[\w-]+\/[\w.-]+(?<!\.git)$/.test(url))
    return [`the place must be https://github.com/OWNER/NAME, not "${url}"`]
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const problems = findOtherPlaces(read)
  if (problems.length > 0) return problems
  const [place, version] = placeIn(read)
  const words = new Map(wordsOf(url, version))
  for (const [path, old] of wordsOf(place, version))
    writeFileSync(
      join(root, path),
      read(path).replace(old, () => words.get(path)!),
    )
  return []
}

if (import.meta.main) {
  const problems = setPlace(join(import.meta.dirname, '../..'), process.argv[2] ?? '')
  for (const problem of problems) console.error(`error: ${problem}`)
  process.exitCode = Math.min(problems.length, 1)
}
