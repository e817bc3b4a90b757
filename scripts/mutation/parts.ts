/** The files to change and the tests closest to them. */
export interface Part {
  folder: string
  mutate: string[]
  tests: string[]
  /** Slow tests that notice nothing more than others. */
  skip?: string
  /** Changes this many random lines, because the tests of all lines would take a day. */
  lines?: number
}

const NOUNS = '{accounts,organizations,servers,keys,directory,state}'

export const PARTS: Part[] = [
  {
    folder: 'rules',
    mutate: ['src/model/*.ts', `src/${NOUNS}/*.ts`, 'src/servers/file/*.ts'],
    tests: ['test/model/*.test.ts', `test/${NOUNS}/*.test.ts`, 'test/servers/file/*.test.ts'],
  },
  { folder: 'api', mutate: ['src/api/*.ts'], tests: ['test/api/*.test.ts'] },
  { folder: 'claims', mutate: ['src/claims/*.ts'], tests: ['test/claims/*.test.ts'] },
  {
    folder: 'http',
    mutate: below('src/http', 'characters', 'client-address', 'fields', 'head', 'request-line'),
    tests: tests('wire', 'client-address', 'heads/fields', 'heads/head', 'heads/last-request'),
  },
  {
    folder: 'http',
    mutate: below(
      'src/http',
      'answers',
      'bind',
      'connection',
      'front',
      'limits',
      'listen',
      'outbox',
      'render',
    ),
    tests: tests(
      'wire',
      'limits',
      'closing',
      'connections',
      'timeouts',
      'corpus',
      'pending',
      'exchanges',
      'forgotten',
      'outbox',
      'slow-reader',
    ),
    skip: '/byte|never reads what it is answered/',
  },
  {
    folder: 'sqlite',
    mutate: below(
      'src/sqlite',
      'database',
      'claims/claims',
      'claims/clock',
      'claims/decide-call',
      'claims/file-revision',
      'claims/key-rows',
    ),
    tests: tests(
      'sqlite',
      'claims/batches',
      'claims/keys/changed-keys',
      'claims/keys/key-rows',
      'claims/queue',
      'clock',
      'database',
      'claims/processes',
    ),
    skip: '/without a boot id/',
  },
  {
    folder: 'sqlite',
    mutate: below('src/sqlite/claims', 'recent-claims'),
    tests: tests('sqlite', 'claims/recent-claims', 'claims/compaction'),
    skip: '/^compaction keeps|in the middle of a compaction/',
  },
  {
    folder: 'postgres',
    mutate: below('src/postgres', 'hosts'),
    tests: tests('postgres', 'hosts-of'),
  },
  {
    folder: 'postgres',
    mutate: below(
      'src/postgres/claims',
      'binary-arrays',
      'known-keys',
      'claim-statements',
      'claims',
    ),
    tests: tests(
      'postgres',
      'claims/binary-arrays',
      'claims/known-keys',
      'claims/batches',
      'claims/busy-rows',
    ),
  },
  {
    folder: 'postgres',
    mutate: below('src/postgres', 'database', 'pool', 'claims/claim-connection'),
    tests: tests('postgres', 'hosts-of', 'claims/connection', 'database'),
  },
  {
    folder: 'wiring',
    mutate: [
      ...below('src/sqlite', 'management-connection', 'migrate', 'file/serving-lock', 'store'),
      'src/database/*.ts',
      `src/${NOUNS}/records/**/*.ts`,
    ],
    tests: [
      'test/database/sql.test.ts',
      ...tests(
        'sqlite',
        'management-connection',
        'file/serving-lock',
        'migrate',
        'claims/processes',
        'dashboard',
        'database',
      ),
      'test/reliability/sqlite/migrate.test.ts',
      'test/contract/sqlite.test.ts',
    ],
    lines: 160,
  },
  {
    folder: 'pages',
    mutate: ['src/{dashboard,web}/**/*.ts', `src/${NOUNS}/pages/**/*.ts`, 'src/keys/usage/*.ts'],
    tests: [
      'test/{dashboard,web}/**/*.test.ts',
      `test/${NOUNS}/pages/**/*.test.ts`,
      'test/reliability/dashboard/token-bucket.test.ts',
    ],
    lines: 240,
  },
]

function below(folder: string, ...names: string[]): string[] {
  return names.map((name) => `${folder}/${name}.ts`)
}

function tests(folder: string, ...names: string[]): string[] {
  return names.map((name) => `test/${folder}/${name}.test.ts`)
}
