import { OPERATOR } from '../../contract/people.ts'
import {
  CLOSED,
  draft,
  FRESH,
  hold,
  holdAda,
  holdName,
  ISSUER,
  provided,
  testMeetings,
} from './meeting.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

const OPEN = { signUp: 'open', reserved: [] } as const
const ways = { issuer: ISSUER, passwords: false }

const ATTEMPTS = 'SELECT subject FROM sign_in_attempts'
const attempt = (subject: string) => `INSERT INTO sign_in_attempts (id, subject, attempted_at)
  VALUES ('${FRESH}', '${subject}', to_timestamp(${NOW / 1e6}))`

testMeetings([
  {
    name: 'a sign-in whose password changes meanwhile begins no session',
    hold: holdAda,
    meanwhile: () => "UPDATE passwords SET hash = 'other'",
    act: ({ ada, command }) =>
      recordsOf(command).beginSession({ ...draft(), userId: ada.id }, 'hash', null),
    expected: false,
  },
  {
    name: 'a session that begins meanwhile does not outlast a new password',
    hold: holdAda,
    meanwhile: ({ ada }) => `INSERT INTO sessions
      (id, user_id, token_hash, address, user_agent, started_at, last_active_at, expires_at)
      VALUES ('${FRESH}', '${ada.id}', 'x', '', '', now(), now(), now())`,
    act: ({ ada, command }) => recordsOf(command).setPassword(ada.id, 'other', OPERATOR),
    left: 'SELECT id FROM sessions',
    expected: [],
  },
  {
    name: 'an address that another user takes meanwhile is refused',
    hold: ({ bob }) => `UPDATE users SET email = 'x@example.com' WHERE id = '${bob.id}'`,
    meanwhile: () => 'SELECT',
    act: ({ ada, command }) =>
      recordsOf(command).changeEmail(ada.id, 'hash', 'x@example.com', OPERATOR),
    expected: 'taken',
  },
  {
    name: 'a change of a password that has changed meanwhile is refused',
    hold: holdAda,
    meanwhile: () => "UPDATE passwords SET hash = 'other'",
    act: ({ ada, command }) => recordsOf(command).changePassword(ada.id, 'hash', 'x', OPERATOR),
    expected: false,
  },
  {
    name: 'a change of an address whose password has changed meanwhile is refused',
    hold: holdAda,
    meanwhile: () => "UPDATE passwords SET hash = 'other'",
    act: ({ ada, command }) =>
      recordsOf(command).changeEmail(ada.id, 'hash', 'x@example.com', OPERATOR),
    expected: 'outdated',
  },
  {
    name: 'a link for a user who is disabled meanwhile is not kept',
    hold: holdAda,
    meanwhile: () => 'UPDATE users SET disabled_at = now()',
    act: ({ ada, command }) =>
      recordsOf(command).keepSignInLink(
        { userId: ada.id, tokenHash: 'x', expiresAt: NOW },
        OPERATOR,
      ),
    expected: false,
  },
  {
    name: 'a link that is used meanwhile begins no session',
    hold: holdAda,
    meanwhile: () => 'DELETE FROM sign_in_links',
    act: ({ command }) => recordsOf(command).beginLinkedSession('link', draft()),
    expected: null,
  },
  {
    name: 'an identity that goes meanwhile begins no session',
    hold: holdAda,
    meanwhile: () => 'DELETE FROM identities',
    act: ({ command }) => recordsOf(command).signIn(provided('ada'), draft(), CLOSED),
    expected: { userId: null, refusal: 'no account' },
  },
  {
    name: 'an identity that another process stores meanwhile gets one account',
    hold: holdName(`${ISSUER}\\nnew`),
    meanwhile: ({ bob }) => `INSERT INTO identities VALUES ('${ISSUER}', 'new', '${bob.id}')`,
    act: async ({ bob, command }) => {
      const { userId } = await recordsOf(command).signIn(provided('new'), draft(), OPEN)
      return userId === bob.id
    },
    expected: true,
  },
  {
    name: 'an account that gets a password meanwhile links to no identity',
    hold: ({ bob }) => hold('users', bob.id),
    meanwhile: ({ bob }) => `INSERT INTO passwords VALUES ('${bob.id}', 'hash')`,
    act: async ({ bob, command }) => {
      const person = provided('bob', bob.email)
      return (await recordsOf(command).signIn(person, draft(), CLOSED)).refusal
    },
    expected: 'account has another sign-in',
  },
  {
    name: 'an identity that goes meanwhile confirms nothing',
    hold: holdAda,
    meanwhile: () => 'DELETE FROM identities',
    act: ({ session, command }) =>
      recordsOf(command).confirm(session, provided('ada'), draft(), 'confirmed'),
    expected: false,
  },
  {
    name: 'a session that ends meanwhile connects nothing',
    hold: holdAda,
    meanwhile: () => 'DELETE FROM sessions',
    act: ({ session, command }) => recordsOf(command).connect(session, provided('x'), OPERATOR),
    expected: 'session ended',
  },
  {
    name: 'an identity that another user connects meanwhile stays with that user',
    hold: holdName(`${ISSUER}\\nnew`),
    meanwhile: ({ bob }) => `INSERT INTO identities VALUES ('${ISSUER}', 'new', '${bob.id}')`,
    act: ({ session, command }) => recordsOf(command).connect(session, provided('new'), OPERATOR),
    expected: 'another account',
  },
  {
    name: 'the last identity stays if the other one goes meanwhile',
    hold: holdAda,
    meanwhile: () => "DELETE FROM identities WHERE subject = 'other'",
    act: ({ session, command }) =>
      recordsOf(command).remove(session, provided('ada'), ways, OPERATOR),
    expected: 'last',
  },
  {
    name: 'a refusal that is noted meanwhile is noted once',
    hold: holdName(`${ISSUER}\\nada`),
    meanwhile: () => `INSERT INTO audit_log (id, occurred_at, action, subject, address)
      VALUES ('${FRESH}', to_timestamp(${NOW / 1e6}), 'identity refused', 'no account: ${ISSUER} ada', '')`,
    act: ({ command }) =>
      recordsOf(command).noteRefusal(provided('ada'), 'no account', null, OPERATOR),
    left: "SELECT count(*)::int FROM audit_log WHERE action = 'identity refused'",
    expected: [1],
  },
  {
    name: 'an attempt that another process counts meanwhile takes the last place',
    hold: holdName('ada'),
    meanwhile: () => attempt('ada'),
    act: ({ command }) =>
      recordsOf(command).beginAttempt([{ subject: 'ada', attemptsMax: 1 }], NOW - 1, NOW),
    expected: NOW,
  },
  {
    name: 'an attempt that another process counts meanwhile is forgotten after a right password',
    hold: holdName('ada'),
    meanwhile: () => attempt('ada'),
    act: ({ command }) => recordsOf(command).forgetAttempts(['ada'], ['here']),
    left: ATTEMPTS,
    expected: [],
  },
  {
    name: 'the latest attempt of an address is forgotten, also if it comes meanwhile',
    hold: holdName('here'),
    meanwhile: () => attempt('here'),
    act: ({ command }) => recordsOf(command).forgetAttempts(['ada'], ['here']),
    left: ATTEMPTS,
    expected: [],
  },
])
