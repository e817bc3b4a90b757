import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

type Read = (path: string) => string

const PLACE = /^https:\/\/github\.com\/[\w-]+\/[\w.-]+$/

/** What files say of the place of the project, a repository on GitHub, or until it has one. */
function wordsOf(place: string | undefined, version: string): (readonly [string, string])[] {
  const repository = { type: 'git', url: `git+${place}.git` }
  const fields = { repository, homepage: `${place}#readme`, bugs: `${place}/issues` }
  const lines = place ? `${JSON.stringify(fields, null, 2).slice(2, -2)},\n` : ''
  const image = `${place?.replace('https://github.com', 'ghcr.io').toLowerCase()}:${version}`
  const source = place ? `image: ${image}` : 'pull_policy: build'
  return [
    ['package.json', `"license": "MIT",\n${lines}  "type"`],
    ['client/package.json', `"license": "MIT",\n${lines}  "type"`],
    ['deploy/compose/postgres.yaml', `  listing:\n    ${source}\n`],
    ['deploy/compose/sqlite.yaml', `  listing:\n    ${source}\n`],
    ['docs/operations/install.md', place ? `the\n[release](${place}/releases)\ninto` : RELEASE],
    ['docs/packages.md', `Compose ${place ? `pulls\n\`${image}\`,\nor else ` : ''}builds`],
    ['SECURITY.md', place ? `the\n[*Security* tab](${place}/security)\nof the repository,` : TAB],
  ]
}

const TAB = 'the *Security* tab of the repository that you have this file from,'
const RELEASE = 'the [release](../packages.md#a-release) into'

/** A sentence for each file that does not name the place in package.json. */
export function findOtherPlaces(read: Read): string[] {
  return wordsOf(...placeIn(read))
    .filter(([path, words]) => !read(path).includes(words))
    .map(([path, words]) => `${path} lacks ${JSON.stringify(words)}, which package.json asks for`)
}

function placeIn(read: Read): [place: string | undefined, version: string] {
  const { repository, version } = JSON.parse(read('package.json'))
  return [repository && `${repository.url}`.replaceAll(/^git\+|\.git$/g, ''), version]
}

/** Writes this place into each file, or returns sentences that say why not. */
export function setPlace(root: string, url: string): string[] {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  if (!PLACE.test(url)) return [`the place must be https://github.com/OWNER/NAME, not "${url}"`]
  const problems = findOtherPlaces(read)
  if (problems.length > 0) return problems
  const [place, version] = placeIn(read)
  const words = wordsOf(url, version)
  for (const [index, [path, old]] of wordsOf(place, version).entries())
    writeFileSync(
      join(root, path),
      read(path).replace(old, () => words[index]![1]),
    )
  return []
}

if (import.meta.main) {
  const problems = setPlace(join(import.meta.dirname, '../..'), process.argv[2] ?? '')
  for (const problem of problems) console.error(`error: ${problem}`)
  if (problems.length > 0) process.exitCode = 1
}
