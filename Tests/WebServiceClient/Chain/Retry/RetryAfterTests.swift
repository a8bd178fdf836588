import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct RetryAfterTests {
    private typealias Rig = RetryRig

    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private static let now = Date(timeIntervalSince1970: 784_111_777)

    private static func fields(_ values: [String], date: String? = nil) -> HTTPFields {
        var headers = HTTPFields()
        for value in values { headers.append(.retryAfter, value) }
        if let date { headers["Date"] = date }
        return headers
    }

    @Test func `All forms are read`() {
        #expect(RetryAfter(" 120 ") == .seconds(120))
        #expect(RetryAfter("1.5") == .milliseconds(1_500))
        #expect(RetryAfter("0.503") == .milliseconds(503))
        #expect(RetryAfter("299.997") == .milliseconds(299_997))
        #expect(RetryAfter("0.0001") == .milliseconds(1))
        #expect(RetryAfter("5.000") == .seconds(5))
        #expect(RetryAfter("2.9999") == .milliseconds(3_000))
        #expect(RetryAfter("9999999999") == .seconds(9_999_999_999) && RetryAfter("00000000000000000000000000007") == .seconds(7))
        // RFC 9110 doesn't limit the number of digits.
        #expect(RetryAfter("12345678901") == .seconds(12_345_678_901))
        for text in ["99999999999999999999", "9223372036854775807", "99999999999999999999.5"] {
            let wait = RetryAfter(text)?.delay(limit: .longest)
            #expect(wait == .longest, "\(text)")
        }
        let date = RetryAfter.date(Self.now)
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            #expect(RetryAfter(text) == date)
        }
        for text in [
            "", "-1", "-1.5", "+5", "soon", "１２", "-99999999999999999999", "1e3", "nan", "inf", "Infinity", ".5", "5.", ".",
            "1.5.2", "1,5", "0x10", "1 2", "1.5s",
        ] { #expect(RetryAfter(text) == nil, "\(text)") }
    }

    @Test func `Milliseconds are read`() {
        #expect(RetryAfter(milliseconds: "250") == .milliseconds(250))
        #expect(RetryAfter(milliseconds: "0.2") == .milliseconds(1))
        #expect(RetryAfter(milliseconds: "12345678901") == .milliseconds(12_345_678_901))
        #expect(RetryAfter(milliseconds: "99999999999999999999")?.delay() == .seconds(3_600))
        for text in ["", "-1", "soon", "nan"] { #expect(RetryAfter(milliseconds: text) == nil) }
    }

    @Test func `The wait is bounded on both sides`() {
        #expect(RetryAfter.seconds(5).delay(from: Self.now) == .seconds(5))
        #expect(RetryAfter("9999999999")?.delay(limit: .seconds(9)) == .seconds(9))
        #expect(RetryAfter.date(Self.now.addingTimeInterval(30)).delay(from: Self.now) == .seconds(30))
        #expect(RetryAfter.date(Self.now.addingTimeInterval(-30)).delay(from: Self.now) == .zero)
        #expect(RetryAfter.date(.distantFuture).delay(from: Self.now, limit: .seconds(60)) == .seconds(60))
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 0) * 18
        #expect(RetryAfter.date(Self.now.addingTimeInterval(30)).delay(from: Self.now, limit: longest) == .seconds(30))
        for number in [Int.min, -1] {
            #expect(RetryAfter.seconds(number).delay() == .zero && RetryAfter.milliseconds(number).delay() == .zero)
        }
        #expect(RetryAfter.seconds(5).delay(limit: .seconds(-5)) == .zero)
        #expect(RetryAfter.seconds(.max).delay(limit: .seconds(7)) == .seconds(7))
        #expect(RetryAfter.date(Date(timeIntervalSince1970: .nan)).delay() == .zero)
    }

    @Test(
        "Of several waits the longest counts",
        arguments: [
            (["120"], 120), (["1", "120"], 120), (["120", "1"], 120), (["1, 120"], 120), (["120,1"], 120), (["x", "5"], 5),
            (["5", "x"], 5), (["5, x"], 5), (["5, 5"], 5), (["5,10"], 10),
            (["Sun, 06 Nov 1994 08:50:37 GMT"], 60), (["Sun, 06 Nov 1994 08:50:37 GMT", "30"], 60),
            (["30, Sun, 06 Nov 1994 08:50:37 GMT"], 60),
            (["Sun, 06 Nov 1994 08:50:37 GMT, 90"], 90), (["Sun, 06 Nov 1994 08:50:37 GMT, Sun, 06 Nov 1994 08:51:37 GMT"], 120),
            (["Sun Nov  6 08:50:37 1994", "7"], 60), (["Sunday, 06-Nov-94 08:50:37 GMT"], 60), (["0", "0"], 0),
            (["99999999999999999999", "1"], 3600), ([" 3 ", ""], 3), (["9999999999"], 3600),
            (["Sun, 06 Nov 1994 08:48:37 GMT", "2"], 2), (["-5", "4"], 4), (["1.5", "4"], 4), (["3.0"], 3),
        ] as [([String], Int)])
    func several(values: [String], seconds: Int) {
        #expect(RetryAfter.delay(in: Self.fields(values), from: Self.now) == .seconds(seconds))
    }

    @Test(arguments: [[], [""], ["x"], ["-1"], ["soon, later"], ["Sun, 06 Nov"], [","]] as [[String]])
    func `Nothing is asked`(values: [String]) {
        #expect(RetryAfter.delay(in: Self.fields(values), from: Self.now) == nil)
    }

    @Test func `A date is relative to the response's own`() {
        let asked = ["Sun, 06 Nov 1994 10:00:30 GMT"]
        #expect(RetryAfter.delay(in: Self.fields(asked, date: "Sun, 06 Nov 1994 10:00:00 GMT"), from: Self.now) == .seconds(30))
        #expect(RetryAfter.delay(in: Self.fields(asked, date: "yesterday"), from: Self.now, limit: .longest) == .seconds(4_253))
    }

    // MARK: The stage

    /// Each asks for 30 seconds at 08:49:37.
    static let forms: [(String, HTTPFields)] = [
        ("seconds", ["Retry-After": "30"]),
        ("fraction", ["Retry-After": "29.9995"]),
        ("date", ["Retry-After": "Sun, 06 Nov 1994 08:50:07 GMT"]),
        ("RFC 850", ["Retry-After": "Sunday, 06-Nov-94 08:50:07 GMT"]),
        ("asctime", ["Retry-After": "Sun Nov  6 08:50:07 1994"]),
        ("date of another clock", ["Retry-After": "Mon, 07 Nov 1994 10:00:30 GMT", "Date": "Mon, 07 Nov 1994 10:00:00 GMT"]),
        ("twice", fields(["10", "30"])),
        ("joined", ["Retry-After": "30, 10"]),
        ("joined dates", ["Retry-After": "Sun, 06 Nov 1994 08:49:47 GMT, Sun, 06 Nov 1994 08:50:07 GMT"]),
        ("milliseconds", ["retry-after-ms": "30000", "Retry-After": "1"]),
        ("milliseconds of Azure", ["x-ms-retry-after-ms": "29999.5"]),
        ("GitHub", ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000030", "Date": "Tue, 14 Nov 2023 22:13:20 GMT"]),
    ]

    @Test(arguments: forms) func `It is obeyed within a second, in every form`(form: String, headers: HTTPFields) async throws {
        for random in [0.0, 0.37, 0.999_999] {
            var rig = Rig(random: { random })
            rig.policy.backoff = Backoff()
            rig.policy.millisecondFields = RetryPolicy.commonMillisecondFields
            rig.policy.limits = [.gitHub]
            let run = await rig.run(Rig.answer(429, headers), Rig.answer(200))
            let wait = try #require(run.waits.first, "\(form)")
            #expect(run.status == 200 && wait >= .seconds(30) && wait <= .seconds(31), "\(form): \(wait)")
        }
    }

    @Test func `The larger of Retry-After and backoff is waited for`() async throws {
        #expect(await Rig().run(Rig.answer(429, ["Retry-After": "7"]), Rig.answer(200)).waits == [.seconds(7)])
        #expect(await Rig().run(Rig.answer(429, ["Retry-After": "0"]), Rig.answer(200)).waits == [.seconds(1)])
        #expect(await Rig().run(Rig.answer(429, ["retry-after-ms": "7000"]), Rig.answer(200)).waits == [.seconds(1)])
    }

    @Test func `Longer than the longest wait, the failure has the wish in it`() async throws {
        let run = await Rig().run(Rig.answer(429, ["Retry-After": "3600"]), Rig.answer(200))
        #expect(run.status == 429 && run.attempts.count == 1)
        // A number that no integer holds is a long wait as well.
        let endless = await Rig().run(Rig.answer(503, ["Retry-After": "99999999999999999999"]), Rig.answer(200))
        #expect(endless.status == 503 && endless.attempts.count == 1)
        let (client, stub) = Store.stubbed(.status(429, headers: ["Retry-After": "3600"])) { $0.retry = .standard }
        let error = await serviceError { try await client.http.get("/").send() }
        #expect(error?.retryAfter == .seconds(3_600) && error?.response?.retryAfter == .seconds(3_600))
        #expect(stub.requests.count == 1)
        // Without any policy, too; and by a limit that only the policy knows.
        client.configure { $0.retry = .never }
        #expect(await serviceError { try await client.http.get("/").send() }?.retryAfter == .seconds(3_600))
        stub.fallback(.status(403, headers: ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "900"]))
        client.configure {
            $0.retry = .standard
            $0.retry.limits = [.secondsUntilReset]
        }
        #expect(await serviceError { try await client.http.get("/").send() }?.retryAfter == .seconds(900))
        stub.fallback(.status(404))
        #expect(try #require(await serviceError { try await client.http.get("/").send() }).retryAfter == nil)
    }
}
