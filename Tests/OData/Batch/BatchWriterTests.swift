import Foundation
import Testing
import WebServiceClient

@testable import OData

@Suite struct BatchWriterTests {
    private let post = BatchRequest(
        number: 2, group: 1, method: "POST", target: "People", headers: ["Content-Type": "application/json"], body: Data("{}".utf8))

    private func text(_ units: [[BatchRequest]], isJSON: Bool, statesLengths: Bool = false) throws -> String {
        var writer = BatchWriter(isJSON: isJSON, statesLengths: statesLengths, boundary: "x")
        var data = Data()
        for unit in units { data.append(try writer.unit(unit)) }
        return String(decoding: data + writer.end(), as: UTF8.self)
    }

    @Test func `a multipart batch has the form that all services read`() throws {
        let get = BatchRequest(number: 1, method: "GET", target: "People(1)?$top=1", headers: ["Accept": "application/json"])
        let expected = """
            --batch_x
            Content-Type: application/http
            Content-Transfer-Encoding: binary
            Content-ID: 1

            GET People(1)?$top=1 HTTP/1.1
            Accept: application/json


            --batch_x
            Content-Type: multipart/mixed; boundary=changeset_x_1

            --changeset_x_1
            Content-Type: application/http
            Content-Transfer-Encoding: binary
            Content-ID: 2

            POST People HTTP/1.1
            Content-Type: application/json
            Content-Length: 2

            {}
            --changeset_x_1--
            --batch_x--

            """
        #expect(try text([[get], [post]], isJSON: false, statesLengths: true) == expected.replacing("\n", with: "\r\n"))
        #expect(BatchWriter(isJSON: false, boundary: "x").contentType == "multipart/mixed; boundary=batch_x")
    }

    @Test func `a JSON batch names groups and what each request depends on`() throws {
        var later = BatchRequest(number: 3, method: "PATCH", target: "$2/Name", body: Data("{\"A\":1}".utf8), dependencies: [2])
        later.groupDependencies = [1]
        #expect(
            try text([[post], [later]], isJSON: true)
                == #"{"requests":[{"id":"2","atomicityGroup":"group1","method":"POST","url":"People","#
                + #""headers":{"content-type":"application/json"},"body":{}},{"id":"3","method":"PATCH","url":"$2/Name","#
                + #""dependsOn":["2","group1"],"headers":{"content-type":"application/json"},"body":{"A":1}}]}"#)
        #expect(try text([], isJSON: true) == #"{"requests":[]}"#)
    }

    @Test func `bodies in JSON are values, strings or base64url`() throws {
        func written(_ body: Data, _ type: String) throws -> String {
            let request = BatchRequest(number: 1, method: "PUT", target: "a", headers: ["Content-Type": type], body: body)
            return try text([[request]], isJSON: true)
        }
        #expect(try written(Data("a\"\n\u{1}é".utf8), "text/plain").contains(#""body":"a\"\n\u0001é"}"#))
        #expect(try written(Data("<a/>".utf8), "application/atom+xml").contains(#""body":"<a/>"}"#))
        #expect(try written(Data([0xFF, 0xFE]), "image/png").contains(#""body":"__4"}"#))
        // A body that isn't what its type says would change the text around it.
        #expect(throws: ODataBatchError.self) { try written(Data("{},{}".utf8), "application/json") }
        #expect(throws: ODataBatchError.self) { try written(Data([0xFF]), "text/plain") }
    }
}
