import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idFromFormTag } from '../../../src/web/request/form-id.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/

test('a tag gives each user one id of their own', () => {
  const id = idFromFormTag('ada', 'tag')
  assert.match(id, UUID)
  assert.equal(idFromFormTag('ada', 'tag'), id)
  assert.notEqual(idFromFormTag('bob', 'tag'), id)
  assert.notEqual(idFromFormTag('ada', 'another'), id)
})

test('a form without a tag gets a new id each time', () => {
  assert.notEqual(idFromFormTag('ada', ''), idFromFormTag('ada', ''))
})
