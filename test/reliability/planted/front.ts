import { type Mutant, witness } from './mutant.ts'

/** Mistakes in how bytes become requests and answers. */
export const FRONT: Mutant[] = [
  {
    name: 'cache-evicts-once',
    file: 'src/api/listing-cache.ts',
    from: 'while (bytes > bytesMax) evict',
    to: 'if (bytes > bytesMax) evict',
    noticedBy: witness('test/api/listing-cache.test.ts', 'stays within the bound'),
  },
  {
    name: 'cache-forgets-moved-owners',
    file: 'src/api/listing-cache.ts',
    from: 'if (byUser.get(userId)?.block === evicted) byUser',
    to: 'byUser',
    noticedBy: witness('test/api/listing-cache.test.ts', 'moved to another block stays'),
  },
  {
    name: 'bearer-takes-any-bytes',
    file: 'src/api/bearer.ts',
    from: '[!-~]*',
    to: '.*',
    noticedBy: witness('test/api/401.test.ts', 'the bearer parser trims nothing'),
  },
  {
    name: 'pipelining-limit-off-by-one',
    file: 'src/http/front.ts',
    from: 'connection.underWay >= limits.pipelinedMax',
    to: 'connection.underWay > limits.pipelinedMax',
    noticedBy: witness(
      'test/wire/pending.test.ts',
      'a client that pipelines too many requests gets the maximum of answers, then the connection ends',
    ),
  },
  {
    name: 'refusal-behind-pending-dropped',
    file: 'src/http/front.ts',
    from: "enqueue(connection, '').response =",
    to: "if (connection.first === null) enqueue(connection, '').response =",
    noticedBy: witness(
      'test/wire/pending.test.ts',
      'an unknown method: gets its own answer after that of the request, and the connection ends',
    ),
  },
  {
    name: 'connections-unlimited',
    file: 'src/http/listen.ts',
    from: '  server.maxConnections = limits.connectionsMax\n',
    to: '',
    noticedBy: witness(
      'test/wire/connections.test.ts',
      'a connection above the maximum is closed at once, and the others are served',
    ),
  },
  {
    name: 'idle-connection-never-times-out',
    file: 'src/http/front.ts',
    from: '(isIdle ? keepAliveMs : silenceMs)',
    to: '(isIdle ? keepAliveMs : Number.POSITIVE_INFINITY)',
    noticedBy: witness('test/wire/timeouts.test.ts', 'of both sides ends the connection'),
  },
  {
    name: 'drain-without-grace',
    file: 'src/http/listen.ts',
    from: 'delay(limits.drainGraceMs, null',
    to: 'delay(0, null',
    noticedBy: witness('test/wire/closing.test.ts', 'under way on an idle connection'),
  },
  {
    name: 'closed-connection-never-destroyed',
    file: 'src/http/front.ts',
    from: 'performance.now() + limits.lingerMs',
    to: 'Number.POSITIVE_INFINITY',
    noticedBy: witness(
      'test/wire/connections.test.ts',
      'is destroyed some time after its last answer',
    ),
  },
  {
    name: 'head-without-bound',
    file: 'src/http/head.ts',
    from: 'Math.min(text.length, start + HEAD_BYTES_MAX)',
    to: 'text.length',
    noticedBy: witness('test/wire/heads/head.test.ts', 'no more than a fixed number of bytes'),
  },
  {
    name: 'first-line-without-end-is-a-400',
    file: 'src/http/request-line.ts',
    from: 'isFull ? 414 : null',
    to: 'isFull ? 400 : null',
    noticedBy: witness('test/wire/guided.test.ts', 'kept inputs get'),
  },
  {
    name: 'two-lengths-accepted',
    file: 'src/http/head.ts',
    from: 'framings <= 1 && ',
    to: '',
    noticedBy: witness('test/wire/heads/last-request.test.ts', 'and there is one'),
  },
  {
    name: 'answers-overtake',
    file: 'src/http/front.ts',
    from: 'if (exchange === connection.first) writeSoon(front, connection)',
    to: 'connection.first = exchange\n      writeSoon(front, connection)',
    noticedBy: witness('test/wire/exchanges.test.ts', 'get each answer once, in order'),
  },
  {
    name: 'outbox-used-again',
    file: 'src/http/answers.ts',
    from: 'socket.writableLength > 0)) outbox.leave()',
    to: 'socket.writableLength > 0)) void outbox',
    noticedBy: witness('test/wire/slow-reader.test.ts', 'gets its own answers'),
  },
  {
    name: 'date-of-the-start',
    file: 'src/http/outbox.ts',
    from: 'if (now !== second)',
    to: 'if (Number.isNaN(second))',
    noticedBy: witness('test/wire/outbox.test.ts', 'the date changes with the second'),
  },
]
