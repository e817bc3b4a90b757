import { ADA, BOB, type Case, CID, LATER, member, owner } from './case.ts'

/** What becomes of organizations and their members. */
export const ORGANIZATION_CASES: Case[] = [
  {
    name: 'absent organizations stay, with the members that the file names, also when pruning',
    file: { users: [ADA, BOB, CID] },
    prune: true,
    rows: [],
    entries: [],
  },
  {
    name: 'an empty list of organizations removes none',
    file: { organizations: [], users: [ADA, BOB, CID] },
    prune: true,
    rows: [],
    entries: [],
  },
  {
    name: 'an absent list of members keeps the members, also when pruning',
    file: { organizations: [{ slug: 'red', name: 'Redder' }], users: [ADA, BOB] },
    prune: true,
    rows: ['~ organization red Red → organization red Redder'],
    entries: ['organization renamed ada'],
  },
  {
    name: 'a list of members keeps those that it leaves out',
    file: {
      organizations: [{ slug: 'red', name: 'Red', members: [owner(ADA), member(CID)] }],
      users: [ADA, BOB, CID],
    },
    rows: ['+ member red cid member'],
    entries: ['member added cid'],
  },
  {
    name: 'pruning ends the memberships that the list leaves out',
    file: {
      organizations: [{ slug: 'red', name: 'Red', members: [owner(ADA)] }],
      users: [ADA, BOB],
    },
    prune: true,
    rows: ['- member red bob member'],
    entries: ['member removed bob'],
  },
  {
    name: 'pruning keeps the memberships of users whom the file leaves out',
    file: {
      organizations: [{ slug: 'red', name: 'Red', members: [owner(ADA)] }],
      users: [ADA],
    },
    prune: true,
    rows: [],
    entries: [],
  },
  {
    name: 'roles change',
    file: {
      organizations: [{ slug: 'red', name: 'Red', members: [member(ADA), owner(BOB)] }],
      users: [ADA, BOB],
    },
    rows: [
      '~ member red ada owner → member red ada member',
      '~ member red bob member → member red bob owner',
    ],
    entries: ['member role changed ada', 'member role changed bob'],
    plan: [
      '~ member ada@example.com of red (owner → member)',
      '~ member bob@example.com of red (member → owner)',
    ],
  },
  {
    name: 'a new organization comes with its members, under the id of the file',
    file: {
      organizations: [
        { id: '@organization green', slug: 'green', name: 'Green', members: [owner(BOB)] },
      ],
      users: [BOB],
    },
    rows: ['+ member green bob owner', '+ organization green Green'],
    entries: ['member added bob', 'organization made bob'],
  },
  {
    name: 'a new member gets the instant of the file, and an entry names the oldest owner',
    file: {
      organizations: [
        {
          slug: 'green',
          name: 'Green',
          members: [
            owner(ADA),
            { ...owner(CID), joined_at: '2026-01-01T00:00:00Z' },
            { ...owner(BOB), joined_at: '2026-02-01T00:00:00Z' },
          ],
        },
      ],
      users: [ADA, BOB, CID],
    },
    rows: [
      '+ member green ada owner',
      '+ member green bob owner older',
      '+ member green cid owner older',
      '+ organization green Green',
    ],
    entries: ['member added ada', 'member added bob', 'member added cid', 'organization made cid'],
  },
  {
    name: 'a member who joins in the future is a mistake',
    file: {
      organizations: [{ slug: 'red', name: 'Red', members: [{ ...owner(ADA), joined_at: LATER }] }],
      users: [ADA],
    },
    says: ['organizations[0].members[0].joined_at: lies in the future'],
  },
  {
    name: 'a new organization without a list of members is a mistake',
    file: { organizations: [{ slug: 'green', name: 'Green' }], users: [BOB] },
    says: ['organizations[0].members: is missing; a new organization needs an owner'],
  },
  {
    name: 'a list of members without an owner is a mistake, also an empty one',
    file: {
      organizations: [
        { slug: 'red', name: 'Red', members: [] },
        { slug: 'blue', name: 'Blue', members: [member(ADA)] },
      ],
      users: [ADA],
    },
    says: [
      'organizations[0].members: must have a member with the role "owner"',
      'organizations[1].members: must have a member with the role "owner"',
    ],
  },
  {
    name: 'a member who is no user of the file, or is there twice, is a mistake',
    file: {
      organizations: [
        {
          slug: 'red',
          name: 'Red',
          members: [
            owner(ADA),
            member({ email: 'eve@example.com' }),
            member({ external_id: '4', email: 'cid@example.com' }),
            member({ external_id: '1' }),
          ],
        },
      ],
      users: [
        { ...ADA, external_id: '1' },
        { ...CID, external_id: '3' },
      ],
    },
    says: [
      'organizations[0].members[1]: must be a user of this file, not "eve@example.com"',
      'organizations[0].members[2]: must be a user of this file, not "4"',
      'organizations[0].members[3]: is the same user, as of organizations[0].members[0]',
    ],
  },
  {
    name: 'an organization that the file has twice is a mistake',
    file: {
      organizations: [
        { slug: 'red', name: 'Red' },
        { slug: 'red', name: 'Other' },
        { slug: 'green', name: 'Green', id: '@organization green', members: [owner(ADA)] },
        { slug: 'new', name: 'New', id: '@organization green', members: [owner(ADA)] },
      ],
      users: [ADA],
    },
    says: [
      'organizations[1].slug: is "red", as of organizations[0]',
      'organizations[3].id: is "@organization green", as of organizations[2]',
    ],
  },
  {
    name: 'another id of an organization and the id of another one are mistakes',
    file: {
      organizations: [
        { id: '@organization green', slug: 'red', name: 'Red' },
        { id: '@organization blue', slug: 'new', name: 'New', members: [owner(ADA)] },
      ],
      users: [ADA],
    },
    says: [
      'organizations[0].id: must be the id of red, @organization red, or be left out',
      'organizations[1].id: is the id of the organization blue',
    ],
  },
]
