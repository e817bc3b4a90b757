import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import { maskPasswords, nameDatabase } from '../../src/config/database-url.ts'
import { temporaryFolder } from '../fixtures/folder.ts'

function databaseOf(environment: Record<string, string>) {
  const read = readConfig(environment)
  assert.ok('config' in read)
  return read.config.database
}

test('an SQLite URL names a file, relative or absolute', () => {
  for (const [url, path] of [
    ['sqlite:x.db', resolve('x.db')],
    ['sqlite:./a/x.db', resolve('a/x.db')],
    ['sqlite:/var/x.db', '/var/x.db'],
    ['sqlite:///var/x.db', '/var/x.db'],
    ['SQLITE:/var/x.db', '/var/x.db'],
  ] as const)
    assert.deepEqual(databaseOf({ DATABASE_URL: url }), { engine: 'sqlite', path })
})

test('an unusable DATABASE_URL is an error that never repeats a password', () => {
  for (const url of [
    'sqlite:',
    'sqlite:data/',
    'sqlite://host/x',
    'data.db',
    'mysql://u:secret@h/d',
    '::',
    'http://x',
  ])
    assert.equal(databaseOf({ DATABASE_URL: url }).engine, null, url)
  assert.doesNotMatch(
    JSON.stringify(databaseOf({ DATABASE_URL: 'mysql://u:secret@h/d' })),
    /secret/,
  )
})

test('a path that only a shell or a quoting reader would understand is an error', () => {
  for (const [url, complaint] of [
    ['sqlite:"/var/x.db"', 'must have no quotes around it'],
    ["'sqlite:/var/x.db'", 'must have no quotes around it'],
    ['sqlite: /var/x.db', 'must not begin or end with a space'],
    ['sqlite:/var/x.db\r', 'must have no line end'],
    ['sqlite:/var/x\0.db', 'must have no line end and no other control character'],
    ['sqlite:~/x.db', 'must have the whole path of the file instead of ~'],
    ['sqlite:$HOME/x.db', 'must have the whole path of the file instead of ~ or a variable'],
    ['"postgres://u:hunter2@db/x"', 'must have no quotes around it'],
    ['postgres://u:hunter2@db/x ', 'must not begin or end with a space'],
  ] as const) {
    const database = databaseOf({ DATABASE_URL: url })
    assert.ok(database.engine === null, url)
    assert.ok(database.problem.startsWith(`DATABASE_URL ${complaint}`), database.problem)
    assert.doesNotMatch(database.problem, /hunter2/)
  }
})

test('an SQLite URL has no parameters, and the message says what to remove', () => {
  for (const query of ['?mode=ro', '?', '?cache=shared&mode=ro', '?x/'])
    assert.deepEqual(databaseOf({ DATABASE_URL: `sqlite:x.db${query}` }), {
      engine: null,
      problem:
        'DATABASE_URL must end with the name of the file, not "sqlite:x.db?…". ' +
        'Remove the ? and what follows: a sqlite: URL has no parameters',
    })
})

test('a message about an odd URL never has what can be a secret of it', () => {
  for (const [url, shown] of [
    ['sqlite://u:hunter2@h/db', /not "sqlite:\/\/…@h\/db"/],
    ['sqlite://hunter2@h/db', /not "sqlite:\/\/…@h\/db"/],
    ['sqlite://u:hun/ter2@x/hunter2@h/db', /not "sqlite:\/\/…@h\/db"/],
    ['sqlite:u:hunter2@h/', /not "sqlite:…@h\/"/],
    ['sqlite://h/db?password=hunter2', /not "sqlite:\/\/h\/db\?…"/],
    ['sqlite:/var/x.db?key=hunter2', /not "sqlite:\/var\/x.db\?…"/],
    ['sqlite://h/db#hunter2', /not "sqlite:\/\/h\/db#…"/],
    ['u:hunter2@h/db', /has the scheme "u"/],
    ['postgres://u:p@h/d?sslmode=x;password=hunter2', /as sslmode, not "x…"/],
    ['postgres://u:p@h/d?x;password:hunter2', /unknown parameter "x…"/],
    ['postgres://u:p/9?hunter2@h/d', /%2F for \//],
    ['postgres://u:1/9?sslmode=hunter2@h/d', /%2F for \//],
    ['postgres://u:p@h/d?sslmode=hunter2@h', /%40 for @/],
    ['postgres://u:p@h/d%00hunter2', /no control character/],
  ] as const) {
    const database = databaseOf({ DATABASE_URL: url })
    assert.ok(database.engine === null)
    assert.match(database.problem, shown)
    assert.doesNotMatch(database.problem, /hunter2/)
  }
  const file = databaseOf({ DATABASE_URL_FILE: 'postgres://u:hunter2@h/d?password=hunter2' })
  assert.ok(file.engine === null)
  assert.match(file.problem, /cannot read the file "postgres:\/\/…@h\/d\?…" that DATABASE_URL_FILE/)
  assert.doesNotMatch(file.problem, /hunter2/)
})

function problemOf(query: string): string {
  const database = databaseOf({ DATABASE_URL: `postgres://u:hunter2@db/listing${query}` })
  return database.engine === null ? database.problem : ''
}

test('the parameters of a PostgreSQL URL are known, valid and without a contradiction', () => {
  for (const query of [
    '',
    '?sslmode=verify-full&sslrootcert=/ca.pem',
    '?options=-c%20search_path%3Done%2Ctwo',
    '?sslmode=require&channel_binding=require&connect_timeout=10',
    '?password=hunter?2&&sslmode=require&',
  ])
    assert.equal(problemOf(query), '')
  for (const [query, problem] of [
    [
      '?sslmod=require',
      /^DATABASE_URL must not have the unknown parameter "sslmod"; the known ones are sslmode, /,
    ],
    ['?schema=foo', /unknown parameter "schema"/],
    ['?SSLMODE=require', /unknown parameter "SSLMODE"/],
    ['?sslmode=bogus', /must have one of disable, .*, verify-full as sslmode, not "bogus"/],
    ['?sslmode=', /as sslmode, not ""/],
    ['?sslmode=verify-full&sslmode=disable', /must have the parameter sslmode only once/],
    ['?sslmode=require#x', /must look like postgres:/],
    ['?hunter=hunter2', /unknown parameter "hunter"/],
    // The mask of passwords looks for the plain name.
    ['?pass%77ord=hunter2', /unknown parameter "pass%77ord"/],
    ['?sslmode=pr%65fer', /as sslmode, not "pr%65fer"/],
    [
      '?password=a&hunter2',
      /must not have an unknown parameter \(write %26 for each & in a password\); /,
    ],
    ['?password=a&hunter2=b', /%26 for each & in a password/],
  ] as const) {
    assert.match(problemOf(query), problem)
    assert.doesNotMatch(problemOf(query), /hunter2/)
  }
})

test('production has no default database', () => {
  const database = databaseOf({ NODE_ENV: 'production' })
  assert.ok(database.engine === null)
  assert.match(database.problem, /^DATABASE_URL must be set in production/)
})

test('the URL can come from a file', (t) => {
  const file = join(temporaryFolder(t), 'url')
  writeFileSync(file, 'sqlite:/var/x.db\n')
  assert.deepEqual(databaseOf({ DATABASE_URL_FILE: file }), { engine: 'sqlite', path: '/var/x.db' })
  assert.equal(databaseOf({ DATABASE_URL_FILE: `${file}.missing` }).engine, null)
})

test('a message names a database by path, or by hosts and name without user and password', () => {
  for (const [url, name] of [
    ['sqlite:/var/x.db', '/var/x.db'],
    ['postgres://db.example.com/listing', 'db.example.com:5432/listing'],
    ['postgres://u:secret@db:5433/listing?sslmode=require&password=secret', 'db:5433/listing'],
    ['postgresql://u:secret@[::1]:5433,db2/x%20y', '[::1]:5433,db2:5432/x y'],
    ['postgres://db:5433/x?host=127.0.0.1&port=5434', '127.0.0.1:5434/x'],
    ['postgres://db:5433/x?host=a,b', 'a:5433,b:5433/x'],
    ['postgres://u@/x?host=/run/postgresql', '/run/postgresql:5432/x'],
    ['postgres://u@%2Frun%2Fpostgresql:5433/x', '/run/postgresql:5433/x'],
  ] as const) {
    const database = databaseOf({ DATABASE_URL: url })
    assert.ok(database.engine !== null)
    assert.equal(nameDatabase(database), name)
  }
})

test('a masked URL has no password', () => {
  for (const [url, masked] of [
    ['sqlite:/var/x.db', 'sqlite:/var/x.db'],
    ['postgres://db/x', 'postgres://db/x'],
    ['postgres://u@db/x', 'postgres://u@db/x'],
    ['postgres://u:secret@db:1,db2/x', 'postgres://u:…@db:1,db2/x'],
    ['postgresql://:secret@[::1]:1/x', 'postgresql://:…@[::1]:1/x'],
    [
      'postgres://u:@db/x?password=secret&sslmode=require&sslpassword=secret',
      'postgres://u:…@db/x?password=…&sslmode=require&sslpassword=…',
    ],
  ] as const)
    assert.equal(maskPasswords(url), masked)
})
