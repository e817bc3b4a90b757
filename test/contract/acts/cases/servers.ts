import { ADA, BOB, type Case, member, owner, server } from './case.ts'

/** What becomes of servers. */
export const SERVER_CASES: Case[] = [
  {
    name: 'an empty list of servers keeps the servers',
    file: { users: [{ ...ADA, servers: [] }] },
    rows: [],
    entries: [],
  },
  {
    name: 'a list of servers adds and changes servers, and keeps those that it leaves out',
    file: {
      users: [
        {
          ...ADA,
          servers: [
            { ...server('one'), name: 'One', version: '1.21' },
            { ...server('one'), organization: 'red' },
          ],
        },
      ],
    },
    rows: ['+ server ada one of red', '~ server ada one → server ada one One 1.21'],
    entries: ['servers imported ada: 1 new, 1 changed, 0 removed'],
  },
  {
    name: 'an id means a server under any slug, and a field that the file leaves out stays',
    file: { users: [{ ...ADA, servers: [{ ...server('two'), id: '@server one' }] }] },
    rows: ['~ server ada one → server ada two'],
    entries: ['servers imported ada: 0 new, 1 changed, 0 removed'],
  },
  {
    name: 'a server keeps its organization unless the file names one, and null makes it personal',
    file: {
      users: [
        { ...ADA, servers: [{ ...server('two'), id: '@server two', organization: null }] },
        { ...BOB, servers: [{ ...server('four'), id: '@server four' }] },
      ],
    },
    rows: ['~ server ada two of red → server ada two'],
    entries: ['servers imported ada: 0 new, 1 changed, 0 removed'],
  },
  {
    name: 'servers with an id need no slug',
    file: {
      users: [
        {
          ...ADA,
          servers: [
            { ...server('one'), id: '@server one', slug: null },
            { ...server('new'), id: '@server new', slug: null },
          ],
        },
      ],
    },
    rows: [
      '+ server ada - new new.example.com',
      '~ server ada one → server ada - one one.example.com',
    ],
    entries: ['servers imported ada: 1 new, 1 changed, 0 removed'],
  },
  {
    name: 'without an id and a known slug, the address and the edition mean a server',
    file: {
      users: [
        {
          ...ADA,
          servers: [
            { name: 'One', address: 'one.example.com' },
            { name: 'Plain', address: 'plain.example.com' },
            { name: 'Plain', address: 'plain.example.com', edition: 'bedrock' },
          ],
        },
      ],
    },
    rows: [
      '+ server ada - Plain plain.example.com',
      '+ server ada - Plain plain.example.com bedrock',
      '~ server ada one → server ada one One',
    ],
    entries: ['servers imported ada: 2 new, 1 changed, 0 removed'],
  },
  {
    name: 'a server gets the instant of the file',
    file: {
      users: [{ ...ADA, servers: [{ ...server('one'), updated_at: '2026-01-01T00:00:00Z' }] }],
    },
    rows: ['~ server ada one → server ada one older'],
    entries: ['servers imported ada: 0 new, 1 changed, 0 removed'],
  },
  {
    name: 'an unknown id makes a server with it',
    file: { users: [{ ...ADA, servers: [{ ...server('new'), id: '@server new' }] }] },
    rows: ['+ server ada new'],
    entries: ['servers imported ada: 1 new, 0 changed, 0 removed'],
  },
  {
    name: 'rows that mean one server, and a slug of several servers, are mistakes',
    file: {
      users: [
        {
          ...ADA,
          servers: [
            server('one'),
            server('one'),
            { ...server('other'), id: '@server one' },
            { ...server('first'), id: '@server two' },
          ],
        },
        { ...BOB, servers: [server('twin')] },
      ],
    },
    says: [
      'put_servers[1].slug: means the same server as put_servers[0]; remove one',
      'put_servers[2].id: means the same server as put_servers[0]; remove one',
      'put_servers[4].slug: is the slug of 2 servers of this user; give the "id" of one',
    ],
  },
  {
    name: "another user's server becomes one of the user whom the row names",
    file: { users: [{ ...ADA, servers: [{ ...server('three'), id: '@server three' }] }] },
    rows: ['~ server bob three → server ada three'],
    entries: ['servers imported ada: 0 new, 1 changed, 0 removed'],
    plan: [
      '~ server ada@example.com "three" (three.example.com): bob@example.com → ada@example.com',
    ],
  },
  {
    name: 'a server that the file has twice is a mistake',
    file: {
      users: [
        { ...ADA, servers: [{ ...server('first'), id: '@server two' }] },
        { ...BOB, servers: [{ ...server('second'), id: '@server two' }] },
      ],
    },
    says: ['put_servers[1].id: is "@server two", as of put_servers[0]'],
  },
  {
    name: 'a whole list of an owner removes the personal servers that it lacks',
    file: { users: [{ ...ADA, servers: [server('new')] }], all_servers_of: [ADA] },
    rows: ['+ server ada new', '- server ada one'],
    entries: ['servers imported ada: 1 new, 0 changed, 1 removed'],
  },
  {
    name: 'the whole list of servers is that of the users of the site',
    file: { users: [{ ...ADA, servers: [server('one')] }], all_servers: true },
    rows: [],
    entries: [],
  },
  {
    name: 'the slug of a server that stays is a mistake',
    file: { users: [{ ...ADA, servers: [{ ...server('one'), id: '@server new' }] }] },
    says: ['put_servers[0].slug: is the slug of another server of this user: "one"'],
  },
  {
    name: 'a server goes into an organization of its user only',
    file: {
      organizations: [{ slug: 'green', name: 'Green', members: [owner(BOB), member(ADA)] }],
      users: [
        { ...ADA, servers: [{ ...server('new'), organization: 'green' }] },
        { ...BOB, servers: [{ ...server('new'), organization: 'blue' }] },
      ],
    },
    says: ['put_servers[1].organization: must have the user as a member: "blue"'],
  },
]
