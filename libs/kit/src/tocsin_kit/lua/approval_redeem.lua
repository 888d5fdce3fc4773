-- Redeem one nonce for one decision, and store the event that tells of it.
-- KEYS: approval, run
-- ARGV: 1 surface, 2 sha256 of the nonce, 3 plan hash that was shown, 4 'granted' or 'denied',
--       5 who, 6 reason, 7 now ms, 8 the event's topic, 9 the event
-- Returns {verdict, state, who, when}
local approval = KEYS[1]
local record = redis.call('HMGET', approval, 'state', 'plan_hash', 'expires', 'proposer', 'decided_by', 'decided_at', 'approvers')
local state = record[1]
if not state then return {'unknown', '', '', ''} end
local function answer(verdict) return {verdict, state, record[5] or '', record[6] or ''} end
local nonce = redis.call('HGET', approval, 'nonce:' .. ARGV[1])
if not nonce or nonce ~= ARGV[2] then return answer('bad_token') end
if state ~= 'pending' then return answer('already') end
if record[2] ~= ARGV[3] then return answer('plan_changed') end
if tonumber(record[3]) <= tonumber(ARGV[7]) then return answer('expired') end
if not string.find(record[7] or '', '\n' .. ARGV[5] .. '\n', 1, true) then return answer('not_allowed') end
if record[4] == ARGV[5] then return answer('self_approval') end
if redis.call('HGET', KEYS[2], 'state') ~= 'awaiting_approval' then return answer('not_waiting') end
redis.call('HSET', approval, 'state', ARGV[4], 'decided_by', ARGV[5], 'decided_at', ARGV[7],
  'reason', ARGV[6], 'surface', ARGV[1], 'out:' .. ARGV[8], ARGV[9])
redis.call('HDEL', approval, 'nonce:' .. ARGV[1])
return {'ok', ARGV[4], ARGV[5], ARGV[7]}
