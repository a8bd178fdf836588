import Foundation
import Testing

@testable import WebServiceClient

@Suite struct HTTPDateTests {
    private let instant = Date(timeIntervalSince1970: 784_111_777)

    @Test(arguments: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
    func `All three forms are read`(text: String) {
        #expect(HTTPDate.date(from: text) == instant)
    }

    @Test func `The fixed form is written`() {
        #expect(HTTPDate.text(of: instant) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.date(from: "1994-11-06T08:49:37Z") == nil)
    }
}
