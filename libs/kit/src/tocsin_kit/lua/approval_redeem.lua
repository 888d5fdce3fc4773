-- Redeem one nonce for one decision, and store the event that tells of it.
-- KEYS: approval, run
-- ARGV: 1 surface, 2 sha256 of the nonce, 3 plan hash that was shown, 4 'granted' or 'denied',
--       5 who, 6 reason, 7 now ms, 8 the decision, 9 the event's topic, 10 the event,
--       11 topic and 12 event of a yes that is not whole yet, 13 '1' to break the glass
-- Returns {verdict, state, who, when, people who said yes, people who have to}
local approval = KEYS[1]
local record = redis.call('HMGET', approval, 'state', 'plan_hash', 'expires', 'proposer', 'decided_by', 'decided_at', 'approvers', 'people', 'alone', 'refused', 'rule', 'askers', 'breakers')
local state, who, people = record[1], ARGV[5], tonumber(record[8] or '1')
if not state then return {'unknown', '', '', '', '', ''} end

local function among(list, one) return string.find(list or '', '\n' .. one .. '\n', 1, true) end
-- Those who asked for the change are counted, and are never the only ones who say yes to it.
local function asked(one) return record[12] and among(record[12], one) end
local said, given, others = redis.call('HEXISTS', approval, 'yes:' .. who) == 1, 0, 0
local agreed, owned = {who}, {}
for _, field in ipairs(redis.call('HKEYS', approval)) do
  if string.sub(field, 1, 4) == 'yes:' then
    given = given + 1
    agreed[#agreed + 1] = string.sub(field, 5)
    if not asked(string.sub(field, 5)) then others = others + 1 end
  elseif string.sub(field, 1, 6) == 'owned:' then
    owned[#owned + 1] = redis.call('HGET', approval, field)
  end
end
-- Whether a file is left of which no owner has said yes, with who does now.
local function unowned()
  for _, owners in ipairs(owned) do
    local heard = false
    for _, one in ipairs(agreed) do heard = heard or among(owners, one) end
    if not heard then return true end
  end
  return false
end
local function answer(verdict)
  return {verdict, state, record[5] or '', record[6] or '', tostring(given), tostring(people)}
end

local nonce = redis.call('HGET', approval, 'nonce:' .. ARGV[1])
if not nonce or nonce ~= ARGV[2] then return answer('bad_token') end
if state ~= 'pending' then return answer('already') end
if record[2] ~= ARGV[3] then return answer('plan_changed') end
if tonumber(record[3]) <= tonumber(ARGV[7]) then return answer('expired') end
-- A rule decides only where the record names it, alone, and by the surface that no person has.
local surface = string.match(ARGV[1], '^[^:]*')
local ruled = surface == 'rule' and record[11] == who and people == 1 and #owned == 0 and ARGV[4] == 'granted'
-- Who breaks the glass waits for no turn and no other person; a login is needed all the same.
local breaks = ARGV[13] == '1'
local may_break = among(record[13], who) and ARGV[4] == 'granted' and (surface == 'gateway' or surface == 'console')
if breaks and not may_break then return answer('not_glass') end
if not breaks and not ruled and (surface == 'rule' or not among(record[7], who)) then return answer('not_allowed') end
if record[4] == who then return answer('self_approval') end
if redis.call('HGET', KEYS[2], 'state') ~= 'awaiting_approval' then return answer('not_waiting') end

local yes = ARGV[4] == 'granted'
if yes then
  if not breaks and among(record[10], surface) then return answer('wrong_surface') end
  local counted = given + (said and 0 or 1)
  if not said and not asked(who) then others = others + 1 end
  local lacking = not breaks and (others == 0 or unowned())
  if lacking then people = math.max(people, counted + 1) end
  if lacking or not breaks and counted < people and not among(record[9], surface) then
    if said then return answer('said_already') end
    given = counted
    -- A quote in a text is escaped, so this can only be the event's own two numbers.
    local from, to = string.find(ARGV[12], '"given":0,"required":0', 1, true)
    local event = string.sub(ARGV[12], 1, from - 1) .. '"given":' .. given .. ',"required":' .. people .. string.sub(ARGV[12], to + 1)
    redis.call('HSET', approval, 'yes:' .. who, ARGV[8], 'out:' .. ARGV[11] .. ':' .. who, event)
    redis.call('HDEL', approval, 'nonce:' .. ARGV[1])
    return {'ok', state, who, ARGV[7], tostring(given), tostring(people)}
  end
  given = counted
end
redis.call('HSET', approval, 'state', ARGV[4], 'decided_by', who, 'decided_at', ARGV[7], 'reason', ARGV[6],
  'surface', ARGV[1], (yes and 'yes:' or 'no:') .. who, ARGV[8], 'out:' .. ARGV[9], ARGV[10])
redis.call('HDEL', approval, 'nonce:' .. ARGV[1])
return {'ok', ARGV[4], who, ARGV[7], tostring(given), tostring(people)}
