import Foundation
import Testing

@testable import HTTPTransport

@Suite struct CurlLanesTests {
    private let origins: [Origin]

    init() throws {
        origins = try (0..<700).map { try #require(URL(string: "http://host\($0).example").flatMap(Origin.init)) }
    }

    @Test func `origins take turns, and each keeps its order`() {
        var lanes = CurlLanes<String>(limitPerOrigin: 10)
        for text in ["a1", "a2", "a3", "b1", "c1", "b2"] {
            _ = lanes.append(text, to: origins[Int(text.utf8.first ?? 0)])
        }
        #expect(lanes.count == 6 && Set(lanes.waiting) == ["a1", "a2", "a3", "b1", "c1", "b2"])
        var taken: [String] = []
        while let text = lanes.popFirst() { taken.append(text) }
        #expect(taken == ["a1", "b1", "c1", "a2", "b2", "a3"])
        #expect(lanes.isEmpty && !lanes.hasNext)
    }

    @Test func `an origin that is full waits until one of its own has arrived`() {
        var lanes = CurlLanes<Int>(limitPerOrigin: 1)
        let lane = lanes.append(1, to: origins[1])
        _ = lanes.append(2, to: origins[1])
        let first = lanes.popFirst()
        #expect(first == 1)
        lanes.began(lane)
        let none = lanes.popFirst()
        #expect(none == nil && !lanes.hasNext && lanes.count == 1)
        _ = lanes.append(3, to: origins[2])
        let other = lanes.popFirst()
        #expect(other == 3)
        lanes.arrived(lane)
        #expect(lanes.hasNext)
        let second = lanes.popFirst()
        #expect(second == 2 && lanes.isEmpty)
    }

    /// Starts all that may begin, and says how many have begun of each origin.
    private func fill(_ lanes: inout CurlLanes<Int>, _ known: [CurlLanes<Int>.Lane]) -> [Int] {
        var begun = [Int](repeating: 0, count: known.count)
        while let origin = lanes.popFirst() {
            lanes.began(known[origin])
            begun[origin] += 1
        }
        return begun
    }

    @Test func `each origin that comes later gets some of what is left`() {
        var lanes = CurlLanes<Int>(limitPerOrigin: 128, most: 256)
        var (known, running) = ([CurlLanes<Int>.Lane](), [Int]())
        for origin in 0..<20 {
            for _ in 0..<300 {
                let lane = lanes.append(origin, to: origins[origin])
                if known.count == origin { known.append(lane) }
            }
            let begun = fill(&lanes, known)
            running = zip(running + [0], begun).map(+)
            #expect(running[origin] > 0 && !lanes.hasNext, "\(running)")
            #expect(begun.dropLast().allSatisfy { $0 == 0 }, "nobody gets more when another one comes")
        }
        #expect(running[0] == 128 && running[1] == 15 && running.reduce(0, +) < 256)
        #expect(running == running.sorted(by: >))
    }

    @Test func `what has become free goes to those who have less`() {
        var lanes = CurlLanes<Int>(limitPerOrigin: 4, most: 8)
        var known: [CurlLanes<Int>.Lane] = []
        for origin in 0..<6 {
            for _ in 0..<10 {
                let lane = lanes.append(origin, to: origins[origin])
                if known.count == origin { known.append(lane) }
            }
            if origin == 0 { #expect(fill(&lanes, known) == [4]) }
        }
        #expect(fill(&lanes, known) == [0, 1, 1, 1, 1, 0] && !lanes.hasNext)
        lanes.arrived(known[0])
        #expect(fill(&lanes, known) == [0, 0, 0, 0, 0, 1] && !lanes.hasNext)
        // One that has its share already gets another one when less is under way.
        for _ in 0..<3 { lanes.arrived(known[0]) }
        let begun = fill(&lanes, known)
        #expect(begun.reduce(0, +) >= 1 && !lanes.hasNext, "\(begun)")
    }

    @Test func `those that nobody wants don't stay where an origin never answers`() {
        var lanes = CurlLanes<Int>(limitPerOrigin: 1)
        let lane = lanes.append(0, to: origins[1])
        let first = lanes.popFirst()
        #expect(first == 0)
        lanes.began(lane)
        var wanted: [Int] = []
        for number in 1...10_000 {
            _ = lanes.append(number, to: origins[1])
            if number.isMultiple(of: 1_000) {
                wanted.append(number)
            } else {
                lanes.left(lane) { $0.isMultiple(of: 1_000) || $0 > number }
            }
            #expect(lanes.count <= wanted.count * 2 + 34)
        }
        lanes.arrived(lane)
        var taken: [Int] = []
        while let next = lanes.popFirst() { taken.append(next) }
        #expect(taken.filter { $0.isMultiple(of: 1_000) } == wanted && taken.count < 60 && lanes.isEmpty)
    }

    @Test func `whatever comes and goes, nothing is lost, no bound is passed, and no order changes`() {
        var random = SystemRandomNumberGenerator()
        var lanes = CurlLanes<(origin: Int, number: Int)>(limitPerOrigin: 3)
        var known: [Int: CurlLanes<(origin: Int, number: Int)>.Lane] = [:]
        var (added, taken, running) = ([Int: Int](), [Int: Int](), [Int: Int]())
        // More origins than are kept without exchanges.
        for _ in 0..<20_000 {
            let origin = Int.random(in: 0..<700, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                known[origin] = lanes.append((origin, added[origin, default: 0]), to: origins[origin])
                added[origin, default: 0] += 1
            case 1:
                guard let next = lanes.popFirst(), let lane = known[next.origin] else { continue }
                #expect(next.number == taken[next.origin, default: 0])
                taken[next.origin, default: 0] += 1
                lanes.began(lane)
                running[next.origin, default: 0] += 1
                #expect(running[next.origin, default: 0] <= 3)
            default:
                guard let lane = known[origin], running[origin, default: 0] > 0 else { continue }
                lanes.arrived(lane)
                running[origin, default: 0] -= 1
            }
            #expect(lanes.count == added.values.reduce(0, +) - taken.values.reduce(0, +))
        }
        for (origin, count) in running {
            for _ in 0..<count { known[origin].map { lanes.arrived($0) } }
        }
        while let next = lanes.popFirst() { taken[next.origin, default: 0] += 1 }
        #expect(taken == added && lanes.isEmpty && Array(lanes.waiting).isEmpty)
    }
}
