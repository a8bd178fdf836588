import Foundation
import RemoteLogger
import Testing

@Suite struct LogMetadataTests {
    @Test func `keeps the order in which values were given`() {
        var metadata: LogMetadata = ["z": 1, "a": "two", "m": 3.5]
        metadata["b"] = true
        metadata["a"] = "changed"
        #expect(metadata.map(\.key) == ["z", "a", "m", "b"])
        #expect(metadata["a"] == "changed")
        metadata["z"] = nil
        #expect(metadata.map(\.key) == ["a", "m", "b"])
    }

    @Test func `a name that is there twice has the later value`() {
        let metadata: LogMetadata = ["a": 1, "b": 2, "a": 3]
        #expect(metadata.map(\.key) == ["a", "b"])
        #expect(metadata["a"] == 3)
    }

    @Test func `the empty name becomes an underscore`() {
        var metadata: LogMetadata = ["": 1]
        #expect(metadata.map(\.key) == ["_"])
        metadata[""] = 2
        #expect(metadata[""] == 2)
        #expect(metadata.count == 1)
    }

    @Test func `merging lays the other values over`() {
        let merged = (["a": 1, "b": 2] as LogMetadata).merging(["b": 3, "c": 4])
        #expect(merged == ["a": 1, "b": 3, "c": 4])
        #expect(([:] as LogMetadata).merging(["a": 1]) == ["a": 1])
        #expect((["a": 1] as LogMetadata).merging([:]) == ["a": 1])
    }

    @Test func `takes the types that programs have`() throws {
        let missing: String? = nil
        let id = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        let metadata: LogMetadata = [
            "int": Int8(-3), "big": UInt64.max, "float": Float(0.1), "missing": missing, "there": Optional("x"), "id": id,
            "list": [1, 2], "map": ["b": 1, "a": 2], "sub": "abc".dropFirst(), "time": Duration.milliseconds(1_500), "raw": LogValue.null,
            "ages": Duration.seconds(Int64.max) * 10, "before": Duration.seconds(Int64.min) * 10,
        ]
        #expect(metadata["int"] == .int(-3))
        #expect(metadata["big"] == .string("18446744073709551615"))
        #expect(metadata["float"] == .double(0.1))
        #expect(metadata["missing"] == .null)
        #expect(metadata["there"] == .string("x"))
        #expect(metadata["id"] == .string("E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        #expect(metadata["list"] == [1, 2])
        #expect(metadata["map"] == ["a": 2, "b": 1])
        #expect(metadata["sub"] == "bc")
        #expect(metadata["time"] == 1.5)
        // The components of a duration of 2^63 seconds and more can't be represented.
        #expect(metadata["ages"] == .double(9.223372036854775807e19))
        #expect(metadata["before"] == .double(-9.223372036854775808e19))
        #expect(metadata["raw"] == .null)
    }

    @Test func `values are literals`() {
        let value: LogValue = ["a": [1, 2.5, true, nil], "b": ["c": "text \(7)"]]
        #expect(
            value
                == .dictionary([
                    "a": LogValue.array([.int(1), .double(2.5), .bool(true), .null]), "b": ["c": "text 7"] as LogMetadata,
                ]))
        #expect(value.description == "[a: [1, 2.5, true, nil], b: [c: text 7]]")
    }

    @Test func `what is nested too deep is told, not walked`() {
        var value = LogValue.int(1)
        for _ in 0..<1_000 { value = .array([value]) }
        #expect(value.description.contains(LogValue.tooDeep))
    }
}
