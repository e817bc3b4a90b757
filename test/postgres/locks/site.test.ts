import assert from 'node:assert/strict'
import { removeUser } from '../../../src/directory/records/removed-user.ts'
import { issueApiKey } from '../../../src/keys/records/issued-keys.ts'
import { ORGANIZATIONS_MAX } from '../../../src/organizations/organization.ts'
import { fields, OPERATOR } from '../../contract/people.ts'
import { applyAll, declare, plan } from '../../contract/acts/declared.ts'
import {
  addServer,
  CHANGE,
  FIRST_KEY,
  FRESH,
  hold,
  holdAda,
  holdName,
  holdRed,
  read,
  SECOND_KEY,
  type Scene,
  testMeetings,
} from './meeting.ts'
import { recordsOf } from '../../fixtures/records.ts'

/** Each act locks the keys of a user in the order of their ids, so the second one is still free. */
const KEYS = { hold: hold('api_keys', FIRST_KEY), meanwhile: () => isFree(SECOND_KEY) }

/** Fails if another transaction has locked the key. */
function isFree(key: string): string {
  return `SELECT FROM api_keys WHERE id = '${key}' FOR UPDATE NOWAIT`
}

testMeetings([
  {
    ...KEYS,
    name: 'disabling a user locks the keys in the order of their ids',
    act: ({ ada, command }) => recordsOf(command).setDisabled(ada.id, true, OPERATOR),
    expected: 'changed',
  },
  {
    name: 'disabling a user locks the keys after the user',
    hold: holdAda,
    meanwhile: () => isFree(FIRST_KEY),
    act: ({ ada, command }) => recordsOf(command).setDisabled(ada.id, true, OPERATOR),
    expected: 'changed',
  },
  {
    ...KEYS,
    name: 'removing a user locks the keys in the order of their ids',
    act: ({ ada, command }) => removeUser(command.database, ada.id, OPERATOR),
    expected: true,
  },
  {
    ...KEYS,
    name: 'revoking leaked keys locks them in the order of their ids',
    async act({ command }) {
      const hashes = (await read('SELECT key_hash FROM api_keys')) as Uint8Array[]
      return (await recordsOf(command).revokeApiKeysByHash(hashes, OPERATOR)).length
    },
    expected: 2,
  },
  {
    ...KEYS,
    name: 'an apply that disables a user locks the keys in the order of their ids',
    act: ({ ada, command }) =>
      applyDocument(command, {
        users: [{ email: ada.email, disabled_at: '2026-01-01T00:00:00Z' }],
      }),
    expected: [],
  },
  {
    name: 'a key beyond five that come meanwhile is refused',
    hold: holdAda,
    meanwhile: ({ ada }) => `INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at)
      SELECT gen_random_uuid(), '${ada.id}', 'bot', 'svc_live_', sha256(gen_random_uuid()::text::bytea), now()
      FROM generate_series(1, 3)`,
    async act({ ada, command }) {
      const issued = await issueApiKey(command.database, ada.id, 'bot', OPERATOR)
      return 'because' in issued && issued.because
    },
    expected: 'at limit',
  },
  {
    name: 'a slug that is taken meanwhile is refused to a new server',
    hold: holdAda,
    meanwhile: ({ ada }) => addServer(ada.id, FRESH, 'new'),
    act: ({ ada, command }) =>
      recordsOf(command).insertServer(
        ada.id,
        crypto.randomUUID(),
        fields({ slug: 'new' }),
        OPERATOR,
      ),
    expected: 'slug taken',
  },
  {
    name: 'a slug that is taken meanwhile is refused to another server',
    hold: holdAda,
    meanwhile: ({ ada }) => addServer(ada.id, FRESH, 'new'),
    act: ({ ada, id, command }) =>
      recordsOf(command).updateServer(ada.id, id, fields({ slug: 'new' }), OPERATOR),
    expected: 'slug taken',
  },
  {
    name: 'a server that comes meanwhile is the one of an import, not a second one',
    hold: holdAda,
    meanwhile: ({ ada }) => addServer(ada.id, FRESH, 'new'),
    async act({ ada, command }) {
      const entry = { name: 'One', slug: 'new', address: 'play.example.com', version: '2' }
      const { added, changed } = await recordsOf(command).saveServers(
        ada.id,
        null,
        [entry],
        OPERATOR,
      )
      return { added, changed }
    },
    expected: { added: 0, changed: 1 },
  },
  {
    name: 'a server that another user gets meanwhile is not removed',
    hold: holdAda,
    meanwhile: ({ bob }) => `UPDATE servers SET created_by = '${bob.id}'`,
    act: ({ ada, id, command }) => recordsOf(command).removeServers(ada.id, [id], OPERATOR),
    expected: 0,
  },
  {
    name: 'a change that another tab makes meanwhile is found',
    hold: holdAda,
    meanwhile: () => "UPDATE servers SET status = 'draft'",
    async act({ ada, id, command }) {
      const change = { id: FRESH, becomes: { status: 'draft' }, servers: [id] }
      const made = await recordsOf(command).changeServers(ada.id, change, OPERATOR)
      return 'changed' in made && made.changed.length
    },
    expected: 0,
  },
  {
    name: 'a change that another tab undoes meanwhile is undone once',
    hold: holdAda,
    meanwhile: () => 'UPDATE server_changes SET restored = 7',
    act: async ({ ada, command }) =>
      (await recordsOf(command).undoChange(ada.id, CHANGE, OPERATOR))?.restored,
    expected: 7,
  },
  {
    name: 'a server that another program changes meanwhile is left out of an undone change',
    hold: ({ id }) => hold('servers', id),
    meanwhile: () => "UPDATE servers SET name = 'Two'",
    act: async ({ ada, command }) =>
      (await recordsOf(command).undoChange(ada.id, CHANGE, OPERATOR))?.restored,
    expected: 0,
  },
  {
    name: 'a membership that ends meanwhile takes no server',
    hold: holdRed,
    meanwhile: () => 'DELETE FROM members',
    act: ({ ada, red, command }) =>
      recordsOf(command).insertServer(ada.id, FRESH, fields({ organization_id: red }), OPERATOR),
    expected: 'not found',
  },
  {
    name: 'an organization beyond the maximum that comes meanwhile is refused',
    hold: holdAda,
    meanwhile: ({ ada }) => joinMany(ada.id),
    act: ({ ada, command }) =>
      recordsOf(command).insertOrganization(
        ada.id,
        { id: FRESH, slug: 'new', name: 'New' },
        OPERATOR,
      ),
    expected: 'too many',
  },
  {
    name: 'an account that is disabled meanwhile is not added',
    hold: ({ bob }) => hold('users', bob.id),
    meanwhile: ({ bob }) => `UPDATE users SET disabled_at = now() WHERE id = '${bob.id}'`,
    act: addBob,
    expected: 'no account',
  },
  {
    name: 'an address that another account takes meanwhile is not added',
    hold: ({ bob }) => hold('users', bob.id),
    meanwhile: ({ bob }) => `UPDATE users SET email = 'x@example.com' WHERE id = '${bob.id}';
      INSERT INTO users (id, email, created_at) VALUES ('${FRESH}', '${bob.email}', now())`,
    act: addBob,
    expected: 'no account',
  },
  {
    name: 'an organization beyond the maximum that an account joins meanwhile is the last',
    hold: ({ bob }) => hold('users', bob.id),
    meanwhile: ({ bob }) => joinMany(bob.id),
    act: addBob,
    expected: 'too many',
  },
  {
    name: 'a right that its owner loses meanwhile adds no member',
    hold: holdRed,
    meanwhile: () => "UPDATE members SET role = 'member'",
    act: addBob,
    expected: 'not found',
  },
  {
    name: 'a right that its owner loses meanwhile removes no organization',
    hold: holdRed,
    meanwhile: () => "UPDATE members SET role = 'member'",
    act: ({ ada, red, command }) => recordsOf(command).removeOrganization(ada.id, red, OPERATOR),
    expected: false,
  },
  {
    name: 'a right that its owner loses meanwhile removes no member',
    hold: holdRed,
    meanwhile: ({ bob, red }) => `UPDATE members SET role = 'member';
      INSERT INTO members VALUES ('${red}', '${bob.id}', 'owner', now())`,
    act: ({ ada, bob, red, command }) =>
      recordsOf(command).removeMember(ada.id, red, bob.id, OPERATOR),
    expected: false,
  },
  {
    name: 'a member who joins meanwhile gets the organization of a removed user, with its servers',
    hold: holdRed,
    meanwhile: ({ ada, bob, red }) =>
      `INSERT INTO members VALUES ('${red}', '${bob.id}', 'member', now());
      ${addServer(ada.id, FRESH, 'red', red)}`,
    async act({ ada, bob, red, command }) {
      assert.ok(await removeUser(command.database, ada.id, OPERATOR))
      const members = await recordsOf(command).listMembers(bob.id, red)
      const server = await recordsOf(command).findServer(bob.id, FRESH)
      return [...members.map(({ user_id, role }) => [user_id === bob.id, role]), server?.slug]
    },
    expected: [[true, 'owner'], 'red'],
  },
  {
    name: 'a user whom another program stores meanwhile is planned again',
    hold: `INSERT INTO users (id, email, created_at) VALUES ('${FRESH}', 'eve@example.com', now())`,
    meanwhile: () => 'SELECT',
    act: ({ command }) =>
      applyDocument(command, { users: [{ email: 'eve@example.com', external_id: '5' }] }),
    expected: ['eve@example.com'],
  },
  {
    name: 'a user whom another apply makes meanwhile is planned again',
    hold: holdName('apply'),
    meanwhile: () => `INSERT INTO users (id, email, created_at)
      VALUES ('${FRESH}', 'eve@example.com', now())`,
    act: ({ command }) =>
      applyDocument(command, { users: [{ email: 'eve@example.com', external_id: '5' }] }),
    expected: ['eve@example.com'],
  },
  {
    name: 'a user whose address changes meanwhile is planned again',
    hold: holdAda,
    meanwhile: () => "UPDATE users SET external_id = 'x' WHERE email = 'ada@example.com'",
    act: ({ ada, command }) =>
      applyDocument(command, { users: [{ id: ada.id, external_id: '1' }] }),
    expected: ['ada@example.com'],
  },
  {
    name: 'an organization whose owner leaves meanwhile is planned again',
    hold: holdRed,
    meanwhile: ({ bob, red }) => `DELETE FROM members;
      INSERT INTO members VALUES ('${red}', '${bob.id}', 'owner', now())`,
    act: ({ ada, command }) =>
      applyDocument(command, {
        users: [
          {
            email: ada.email,
            servers: [{ slug: 'new', name: 'N', address: 'n.example.com', organization: 'red' }],
          },
        ],
      }),
    expected: ['put_servers[0]'],
  },
])

function addBob({ ada, bob, red, command }: Scene): Promise<string> {
  return recordsOf(command).addMember(ada.id, red, bob.email, OPERATOR)
}

/** Makes the user a member of as many organizations as a user may be in. */
function joinMany(user: string): string {
  return `INSERT INTO organizations (id, slug, name)
    SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'o' || n, 'o'
    FROM generate_series(1, ${ORGANIZATIONS_MAX}) n;
    INSERT INTO members (organization_id, user_id, role, joined_at)
    SELECT id, '${user}', 'member', now() FROM organizations WHERE name = 'o'`
}

async function applyDocument(
  command: Scene['command'],
  document: Parameters<typeof declare>[0],
): Promise<string[]> {
  const state = declare(document)
  // The plan is older than the other transaction.
  return applyAll(command, state, await plan(command, state))
}
