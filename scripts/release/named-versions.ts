/** Files that name the version of the project, and what stands around it there. */
const NAMED: readonly (readonly [path: string, pattern: RegExp])[] = [
  ['package-lock.json', /^ {2}"version": "(.*)"/gm],
  ['client/package.json', /^ {2}"version": "(.*)"/gm],
  ['conform/package.json', /^ {2}"version": "(.*)"/gm],
  ['deploy/Dockerfile', /VERSION=(\d\S+)/g],
  ['deploy/compose/postgres.yaml', /VERSION: (.+)/g],
  ['deploy/compose/sqlite.yaml', /VERSION: (.+)/g],
  ['docs/packages.md', /VERSION=(\d\S+)/g],
  ['docs/packages.md', /server-listing-(\d\S*)\.tgz/g],
  ['docs/operations/install.md', /server-listing-(\d\S*)\.tgz/g],
  ['docs/operations/upgrade.md', /server-listing-(\d\S*)\.tgz/g],
]

/** A sentence for each file that names another version than package.json. */
export function findOtherVersions(read: (path: string) => string): string[] {
  const { version } = JSON.parse(read('package.json'))
  return NAMED.flatMap(([path, pattern]) => {
    const found = new Set([...read(path).matchAll(pattern)].map(([, named]) => named))
    if (found.size === 0) return [`${path} names no version where it should: ${pattern.source}`]
    return [...found]
      .filter((named) => named !== version)
      .map((named) => `${path} names version ${named}, and package.json has ${version}`)
  })
}
