-- Count a spending in several accounts of one day at once, and say what each has then.
-- KEYS: the accounts
-- ARGV: 1 seconds until they are forgotten, then pairs of measure and whole number to add
-- Returns one flat list of fields and values for each account
local answers = {}
for _, account in ipairs(KEYS) do
  for i = 2, #ARGV, 2 do
    if ARGV[i + 1] ~= '0' then redis.call('HINCRBY', account, ARGV[i], ARGV[i + 1]) end
  end
  redis.call('EXPIRE', account, ARGV[1])
  answers[#answers + 1] = redis.call('HGETALL', account)
end
return answers
