import Foundation
import WebServiceClient
import WebServiceTesting

/// Informational responses and trailers.
enum InterimCases {
    static let all = [
        ConformanceCase("interim/continue", "An unexpected 100 is ignored.", run: unasked),
        ConformanceCase("interim/several", "Several informational responses are ignored, with their fields.", run: several),
        ConformanceCase(
            "interim/told", "Informational responses are reported in order, with fields.", needing: .informationalResponses, run: told),
        ConformanceCase(
            "trailers/told", "Trailer fields are reported after the body, and not in the head.", needing: .trailers, run: trailers),
        ConformanceCase(
            "trailers/connection", "After trailers the connection serves the next request.", needing: .trailers, run: afterTrailers),
    ]

    @Sendable private static func unasked(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("ok").informing(100)) { server in
            for _ in 0..<3 { try await subject.expect(200, "ok", for: try server.request()) }
            try await subject.expect(200, "ok", for: try server.request(.post, body: RequestBody(Data("x".utf8))), "POST")
        }
    }

    @Sendable private static func several(_ subject: ConformanceSubject) async throws {
        let response = LoopbackResponse.text("ok", status: 404).with("X-Final", "f").informing(103, ["Link": "</a>", "X-Interim": "i"])
        try await answering(with: response.informing(102).informing(103, ["Link": "</b>"])) { server in
            let headers = try await subject.expect(404, "ok", for: try server.request()).headers
            try demand(headers["X-Final"], is: "f", "A field of the final response")
            try demand(headers["X-Interim"], is: nil, "A field of an informational response, in the final head")
            try demand(headers["Link"], is: nil, "Link of an informational response, in the final head")
        }
    }

    @Sendable private static func told(_ subject: ConformanceSubject) async throws {
        let response = LoopbackResponse.text("ok").informing(103, ["Link": "</a>", "link": "</b>"]).informing(102)
        try await answering(with: response.informing(103, ["X-Last": "é"])) { server in
            let told = try await subject.expect(200, "ok", for: try server.request()).report?.informational ?? []
            try demand(told.map(\.status), is: [103, 102, 103], "The statuses")
            try demand(told[0].headers[values: "Link"], is: ["</a>", "</b>"], "Link of the first")
            try demand(told[1].headers.count, is: 0, "The number of fields of the second")
            try demand(told[2].headers["X-Last"], is: "é", "X-Last of the third")
            let none = try await subject.expect(200, "ok", for: try server.request()).report?.informational.count
            try demand(none, is: 3, "The number of them on the next exchange")
        }
    }

    @Sendable private static func trailers(_ subject: ConformanceSubject) async throws {
        let response = LoopbackResponse.pieces([.init("one"), .init("two")]).trailing(["X-Sum": "6", "X-Sum": "7", "X-Empty": ""])
        try await answering(with: response) { server in
            let response = try await subject.expect(200, "onetwo", for: try server.request())
            guard let report = response.report else { throw TestingFailure("The response has no report") }
            try demand(report.trailers[values: "x-sum"], is: ["6", "7"], "X-Sum")
            try demand(report.trailers["X-Empty"], is: "", "X-Empty")
            try demand(response.headers["X-Sum"], is: nil, "X-Sum in the head")
        }
    }

    @Sendable private static func afterTrailers(_ subject: ConformanceSubject) async throws {
        try await answering(with: .pieces([.init("body")]).trailing(["X-Sum": "6"])) { server in
            for _ in 0..<5 {
                let report = try await subject.expect(200, "body", for: try server.request()).report
                try demand(report?.trailers.map(\.value), is: ["6"], "The trailers")
            }
        }
    }
}
