import Foundation
import Testing

@testable import HTTPTransport

@Suite struct CurlFieldsTests {
    /// The fields of a request, in which those of `common` may stand.
    private func fields(
        _ common: CommonFields, _ method: ServiceRequest.Method = .get, with headers: HTTPFields? = nil, body: RequestBody? = nil,
        codings: String? = "gzip"
    ) throws -> CurlFields {
        let request = ServiceRequest(
            method: method, url: try #require(URL(string: "http://example.com/a")), headers: headers ?? common.fields, body: body,
            sharing: RequestDetails.Shared(RequestDetails(), commonFields: common))
        return try CurlFields.of(request, codings: codings)
    }

    @Test func `requests that have their fields in common have the lines in common`() throws {
        let common = CommonFields(["X-One": "1"])
        let first = try fields(common)
        #expect(first.lines.texts == ["X-One: 1", "Accept-Encoding: gzip", "Accept:"])
        #expect(try fields(common) === first)
        #expect(try fields(common, .head) === first)
    }

    @Test func `what makes other lines gets lines of its own`() throws {
        let common = CommonFields(["X-One": "1"])
        let first = try fields(common)
        #expect(try fields(common, .post).lines.texts == ["X-One: 1", "Accept-Encoding: gzip", "Accept:", "Expect:", "Content-Type:"])
        let body = RequestBody(Data("a".utf8), contentType: "text/plain")
        #expect(try fields(common, .delete, body: body).lines.texts.contains("Content-Type: text/plain"))
        var changed = common.fields
        changed["X-One"] = "2"
        #expect(try fields(common, with: changed).lines.texts == ["X-One: 2", "Accept-Encoding: gzip", "Accept:"])
        #expect(try fields(common) === first)
        #expect(try fields(common, codings: nil).lines.texts == ["X-One: 1", "Accept:"])
        #expect(try fields(common, codings: "br").lines.texts == ["X-One: 1", "Accept-Encoding: br", "Accept:"])
        #expect(try fields(common).lines.texts == first.lines.texts)
    }

    @Test func `fields that can't be sent are refused each time`() {
        for headers: HTTPFields in [["Transfer-Encoding": "chunked"], ["X Y": "1"], ["X": "1\r\nY: 2"]] {
            let common = CommonFields(headers)
            for _ in 0..<2 {
                #expect { try fields(common) } throws: { ($0 as? TransportError)?.code == .badRequest }
            }
        }
    }
}
