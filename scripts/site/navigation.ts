/** The groups of the navigation. A path that ends in `/` stands for the other pages below it. */
const GROUPS: readonly (readonly [title: string, paths: readonly string[]])[] = [
  ['Start', ['README.md', 'CHANGELOG.md', 'SECURITY.md']],
  [
    'Call the API',
    [
      'docs/integrators.md',
      'docs/api.md',
      'docs/reference.md',
      'docs/errors.md',
      'docs/faq.md',
      'client/',
      'docs/examples/',
      'docs/conformance.md',
    ],
  ],
  ['Use the dashboard', ['docs/dashboard.md']],
  [
    'Operate',
    [
      'docs/operations/README.md',
      'docs/operations/install.md',
      'docs/operations/tls.md',
      'docs/operations/health.md',
      'docs/backup.md',
      'docs/operations/upgrade.md',
      'docs/operations/incidents.md',
      'docs/operations/postgresql.md',
      'docs/declared-state.md',
      'docs/operations/point-in-time.md',
      'docs/operations/sizing.md',
      'docs/operations/',
    ],
  ],
  [
    'Look up',
    [
      'docs/commands.md',
      'docs/packages.md',
      'docs/proxies.md',
      'docs/postgresql.md',
      'docs/monitoring.md',
      'docs/secret-scanners.md',
      'docs/*',
    ],
  ],
  ['Evidence', ['docs/performance.md', 'docs/scale.md', 'docs/reliability.md', 'docs/mutation.md']],
  ['Develop', ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'STYLE.md', 'test/', 'bench/']],
  ['Decisions', ['docs/decisions/']],
  ['Files', ['']],
]

export interface Group {
  title: string
  paths: string[]
}

/**
 * Puts every path into one group. `docs/*` stands for the pages of the folder itself that no group
 * names, and the last group has what is left.
 */
export function groupPaths(paths: readonly string[]): Group[] {
  const named = new Set(GROUPS.flatMap(([, patterns]) => patterns))
  const left = new Set(paths)
  const take = (pattern: string): string[] => {
    const taken = [...left].filter(
      (path) => path === pattern || (!named.has(path) && isBelow(path, pattern)),
    )
    for (const path of taken) left.delete(path)
    return taken
  }
  return GROUPS.map(([title, patterns]) => ({ title, paths: patterns.flatMap(take) })).filter(
    (group) => group.paths.length > 0,
  )
}

function isBelow(path: string, pattern: string): boolean {
  if (pattern.endsWith('*')) return /^docs\/[^/]+$/.test(path)
  return (pattern === '' || pattern.endsWith('/')) && path.startsWith(pattern)
}
