import Testing

@testable import WebServiceClient

@Suite struct TemplateTests {
    private func split(_ text: String, _ labels: [String] = ["owner", "name"]) -> (pieces: [Template.Piece], problems: [TemplateProblem]) {
        var problems: [TemplateProblem] = []
        let names = ArgumentNames(MethodName(baseName: "f", labels: labels), ignoring: [])
        return (Template(text, names: names) { problems.append($0) }.pieces, problems)
    }

    @Test func `Positions and labels are placeholders`() {
        #expect(split("a%%0%%b%%name%%").pieces == [.literal("a"), .argument(0), .literal("b"), .argument(1)])
        #expect(split("%%1%%%%0%%").pieces == [.argument(1), .argument(0)])
        #expect(split("100%").pieces == [.literal("100%")])
        #expect(split("").pieces.isEmpty)
    }

    @Test func `A problem names its column`() {
        #expect(split("ab%%nam%%").problems == [TemplateProblem(column: 3, kind: .unknown("nam", suggestion: "name"))])
        #expect(split("%%9%%").problems.first?.kind == .outOfRange("9", arity: 2))
        #expect(split("%%99999999999999999999%%").problems.first?.kind == .outOfRange("99999999999999999999", arity: 2))
        #expect(split("x%%").problems.first?.kind == .unclosed)
        #expect(split("%%%%").problems.first?.kind == .noName(""))
        #expect(split("%%a b%%").problems.first?.kind == .noName("a b"))
        #expect(split("%%x%%", ["x", "x"]).problems.first?.kind == .ambiguous("x"))
        #expect(split("%%_%%", ["_"]).problems.count == 1)
    }

    @Test func `A value that looks like a placeholder is not looked at again`() async throws {
        #expect(try await url { $0.http.get("/a/%%0%%/%%1%%", "%%1%%", "x") } == "https://api.test/v1/a/%25%251%25%25/x")
    }
}
