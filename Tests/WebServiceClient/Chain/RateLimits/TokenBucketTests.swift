import Foundation
import HTTPTransport
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct TokenBucketTests {
    private let start = MonotonicInstant.now

    private func at(_ seconds: Double) -> MonotonicInstant { start.advanced(by: .seconds(seconds)) }

    /// Takes all tokens that are there.
    private func taken(_ bucket: inout TokenBucket) -> Int {
        var count = 0
        while count < 1_000, bucket.take() { count += 1 }
        return count
    }

    @Test func `Fractions of a token are kept, however often the bucket is looked at`() {
        // A bucket of one token would be full before the look that takes it.
        var bucket = TokenBucket(RateLimit(3, per: .seconds(1), burst: 2), now: start)
        var count = taken(&bucket)
        for step in 1...10_000 {
            bucket.refill(at(Double(step) / 1_000))
            if bucket.take() { count += 1 }
        }
        // The first two, and three a second for ten seconds.
        #expect(count == 32)
    }

    @Test func `A full bucket keeps no part of a further token`() {
        var bucket = TokenBucket(RateLimit(1, per: .seconds(1), burst: 2), now: start)
        bucket.refill(at(100.9))
        let count = taken(&bucket)
        #expect(count == 2)
        #expect(bucket.wait(for: 1, at(100.9)) == .seconds(1))
    }

    @Test func `A clock that steps back adds nothing`() {
        var bucket = TokenBucket(RateLimit(1, per: .seconds(1)), now: at(100))
        var count = taken(&bucket)
        for second in [50.0, 0, -1_000, 99.9, 100, 50, 100] {
            bucket.refill(at(second))
            count += taken(&bucket)
        }
        #expect(count == 1)
        bucket.refill(at(101))
        count += taken(&bucket)
        #expect(count == 2)
    }

    @Test func `A wait is long enough for its token, and no longer`() {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<500 {
            let limit = RateLimit(
                Int.random(in: 1...1_000, using: &generator), per: .milliseconds(Int.random(in: 1...100_000, using: &generator)),
                burst: Int.random(in: 1...5, using: &generator))
            var bucket = TokenBucket(limit, now: start)
            _ = taken(&bucket)
            let wait = bucket.wait(for: 1, start)
            var early = bucket
            early.refill(start.advanced(by: wait * 0.99))
            bucket.refill(start.advanced(by: wait))
            let counts = [taken(&early), taken(&bucket)]
            #expect(counts == [0, 1], "\(limit)")
        }
    }

    @Test func `Extreme limits don't trap`() {
        for count in [Int.min, -1, 0, 1, .max] {
            let endless = Duration(secondsComponent: .max, attosecondsComponent: 0)
            for period in [Duration.zero, .nanoseconds(1), .seconds(-1), .longest, endless] {
                for burst in [Int.min, 0, 1, .max] {
                    var bucket = TokenBucket(RateLimit(count, per: period, burst: burst), now: start)
                    _ = bucket.take()
                    bucket.refill(start.advanced(by: .longest))
                    bucket.borrow()
                    bucket.giveBack()
                    for reset in [Duration.zero, .seconds(1), .longest] {
                        bucket.learn(remaining: count, reset: reset, policy: nil, isPaced: true, start)
                        bucket.learn(remaining: count, reset: reset, policy: 0, isPaced: false, start)
                        #expect(bucket.wait(for: .max, start) >= .zero)
                    }
                }
            }
        }
    }

    // MARK: Fields

    private func fields(_ headers: HTTPFields, known: [String: RateLimitFields.Policy] = [:]) -> RateLimitFields {
        RateLimitFields(headers, known: known, now: Date(timeIntervalSince1970: 1_800_000_000))
    }

    @Test func `The draft's fields are read with their policies`() {
        let read = fields([
            "RateLimit-Policy": #""minute";q=60;w=60,"day";q=5000;w=86400,"bytes";q=9;w=1;qu="content-bytes""#,
            "RateLimit": #""minute";r=12;t=8, "day";r=4000, "bytes";r=0;t=9"#,
        ])
        #expect(read.policies.count == 3 && read.policies["minute"]?.quota == 60 && read.policies["day"]?.window == .seconds(86_400))
        #expect(
            read.remainders == [
                RateLimitFields.Remainder(name: "minute", remaining: 12, reset: .seconds(8), isPaced: true),
                RateLimitFields.Remainder(name: "day", remaining: 4_000, reset: .seconds(86_400), isPaced: true),
            ])
        // A policy isn't repeated in each response.
        #expect(fields(["RateLimit": #""day";r=7"#], known: read.policies).remainders.first?.reset == .seconds(86_400))
        #expect(fields(["RateLimit": #""day";r=7;pk=:YWI=:;t=1"#]).remainders.first?.name == "day YWI=")
    }

    @Test(arguments: [
        #""a";r=1;t=1,"#, #"a;r=1;t=1"#, #""a";r=-1;t=1"#, #""a";t=1"#, #""a";r=1.5;t=1"#, #""a";r=1;t="x""#, #""a";r=1;t=-1"#,
        #""a";r=1;t=1;pk="text""#, #"("a");r=1;t=1"#, #""a";r=1;t=1, "b";r=x"#, #""a";r=9999999999999999;t=1"#, "", "limit=1",
    ])
    func `A malformed field is ignored as a whole`(value: String) {
        #expect(fields(["RateLimit": value]).remainders.isEmpty)
        #expect(fields(["RateLimit": #""m";r=1;t=1"#, "RateLimit-Policy": #""m";q=-1"#]).policies.isEmpty)
    }

    @Test func `A response of a cache says nothing`() {
        #expect(fields(["RateLimit": #""m";r=1;t=1"#, "Age": "10"]).remainders.isEmpty)
        #expect(fields(["RateLimit": #""m";r=1;t=1"#, "Age": "0"]).remainders.count == 1)
    }

    @Test(arguments: [
        ("60", 60.0), ("60.5", 60.5), ("1800000030", 30), ("1800000030000", 30), ("1799999000", 0), ("0", 0), ("999999999", 999_999_999),
        ("1800000040.5", 40.5),
    ])
    func `The older reset is a time from now or a date`(reset: String, seconds: Double) throws {
        let read = fields(["x-ratelimit-remaining": "5", "x-ratelimit-reset": reset])
        let remainder = try #require(read.remainders.first)
        #expect(abs(remainder.reset / .seconds(1) - seconds) < 0.001 && remainder.remaining == 5 && !remainder.isPaced)
        for prefix in ["RateLimit-", "X-Rate-Limit-"] {
            let same = fields([HTTPFields.Name(prefix + "Remaining"): "5", HTTPFields.Name(prefix + "Reset"): reset])
            #expect(same.remainders.first?.reset == remainder.reset)
        }
    }

    @Test func `The draft's seventh version has one field for all`() {
        let expected = RateLimitFields.Remainder(name: "RateLimit-", remaining: 12, reset: .seconds(8), isPaced: false)
        for text in ["limit=100, remaining=12, reset=8", "reset=8,remaining=12", "limit=100;w=60, remaining=12, reset=8"] {
            #expect(fields(["RateLimit": text, "RateLimit-Policy": "100;w=60"]).remainders == [expected], "\(text)")
        }
        for text in ["limit=100, remaining=12", "remaining=-1, reset=8", "remaining=1.5, reset=8", "remaining=(1), reset=8", "remaining"] {
            #expect(fields(["RateLimit": text]).remainders.isEmpty, "\(text)")
        }
    }

    @Test func `The response's own date counts`() {
        let read = fields([
            "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000010", "Date": "Tue, 14 Nov 2023 22:13:20 GMT",
        ])
        #expect(read.remainders.first?.reset == .seconds(10))
    }

    @Test(arguments: ["", "-1", "many", "1e5", "0x10", "1.2.3", "99999999999999999999999", "nan", "∞"])
    func `A malformed older field is ignored`(value: String) {
        #expect(fields(["X-RateLimit-Remaining": value, "X-RateLimit-Reset": "60"]).remainders.isEmpty)
        #expect(fields(["X-RateLimit-Remaining": "1", "X-RateLimit-Reset": value]).remainders.isEmpty)
    }
}
