import { ADA, BOB, type Case, CID, LATER, member, owner } from './case.ts'

/** What becomes of organizations and their members. */
export const ORGANIZATION_CASES: Case[] = [
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
    says: ['put_members[0].joined_at: lies in the future'],
  },
  {
    name: 'a new organization without an owner is a mistake',
    file: { organizations: [{ slug: 'green', name: 'Green' }], users: [BOB] },
    says: ['put_organizations[0]: is new, and needs an owner who is a user here'],
  },
  {
    name: 'an owner who is the last one stays',
    file: {
      organizations: [
        { slug: 'red', name: 'Red', members: [] },
        { slug: 'blue', name: 'Blue', members: [member(ADA)] },
      ],
      users: [ADA],
    },
    says: ['put_members[0].role: would leave the organization without an owner'],
  },
  {
    name: 'a member who is no user here, or is there twice, is a mistake',
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
      'put_members[3]: is the same user, as of put_members[0]',
      'put_members[1]: names no user here; put the user first',
      'put_members[2]: names no user here; put the user first',
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
      'put_organizations[1].slug: is "red", as of put_organizations[0]',
      'put_organizations[3].id: is "@organization green", as of put_organizations[2]',
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
      'put_organizations[1].id: is the id of the organization blue',
      'put_organizations[0].id: must be the id of red, @organization red, or be left out',
    ],
  },
]
