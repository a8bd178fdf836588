import Foundation
import Testing

@testable import WebServiceClient

@Suite struct SeveralRetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private static let now = Date(timeIntervalSince1970: 784_111_777)

    @Test(
        "Of several waits the longest counts",
        arguments: [
            (["120"], 120), (["1", "120"], 120), (["120", "1"], 120), (["1, 120"], 120), (["120,1"], 120), (["x", "5"], 5),
            (["5", "x"], 5), (["5, x"], 5),
            (["Sun, 06 Nov 1994 08:50:37 GMT"], 60), (["Sun, 06 Nov 1994 08:50:37 GMT", "30"], 60),
            (["30, Sun, 06 Nov 1994 08:50:37 GMT"], 60),
            (["Sun, 06 Nov 1994 08:50:37 GMT, 90"], 90), (["Sun, 06 Nov 1994 08:50:37 GMT, Sun, 06 Nov 1994 08:51:37 GMT"], 120),
            (["Sun Nov  6 08:50:37 1994", "7"], 60), (["Sunday, 06-Nov-94 08:50:37 GMT"], 60), (["0", "0"], 0),
            (["99999999999999999999", "1"], 3600), ([" 3 ", ""], 3),
            (["Sun, 06 Nov 1994 08:48:37 GMT", "2"], 2), (["-5", "4"], 4), (["1.5", "4"], 4),
        ] as [([String], Int)])
    func several(values: [String], seconds: Int) {
        var headers = HTTPFields()
        for value in values { headers.append(.retryAfter, value) }
        #expect(RetryAfter.delay(in: headers, from: Self.now) == .seconds(seconds))
    }

    @Test(arguments: [[], [""], ["x"], ["-1"], ["1.5"], ["soon, later"], ["Sun, 06 Nov"], [","]] as [[String]])
    func `Nothing is asked`(values: [String]) {
        var headers = HTTPFields()
        for value in values { headers.append(.retryAfter, value) }
        #expect(RetryAfter.delay(in: headers, from: Self.now) == nil)
    }
}
