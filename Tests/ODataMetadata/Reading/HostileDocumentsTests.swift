import Foundation
import ODataMetadata
import TestSupport
import Testing

/// Documents that are cut off or changed at random: an error or a model, and never a trap.
@Suite struct HostileDocumentsTests {
    private func samples() -> [Data] {
        let own = document(
            """
            <EntityType Name="A" OpenType="true"><Key><PropertyRef Name="id"/></Key><Property Name="id" Type="Edm.Int32"/>
            <NavigationProperty Name="n" Type="Collection(S.A)" Partner="n"><OnDelete Action="Cascade"/></NavigationProperty></EntityType>
            <Annotations Target="S.A/id"><Annotation Term="T.t"><Record Type="S.C"><PropertyValue Property="p"><If><Path>a</Path>
            <Cast Type="Edm.Int32"><Int>1</Int></Cast></If></PropertyValue></Record></Annotation></Annotations>
            <EntityContainer Name="K"><EntitySet Name="As" EntityType="S.A"/></EntityContainer>
            """)
        let json = try? ServiceModel(xml: own).json()
        let shared = ["trippin-v4.xml", "library-v2.xml", "pairs/miscellaneous.json", "pairs/csdl-16.1.xml"]
        return [own, json].compactMap { $0 }
            + (MetadataDocuments.folder == nil ? [] : shared.compactMap { try? MetadataDocuments.data($0) })
    }

    private func read(_ data: Data) {
        do {
            let model = try ServiceModel(data: data)
            _ = model.schemas.count
        } catch {
            #expect(error is ServiceModelError)
        }
    }

    @Test func documentsCutOff() throws {
        for data in samples() {
            let count = Sweep.rounds(ofAll: 60)
            for step in 0..<count {
                let part = data.prefix(data.count * step / count)
                #expect(throws: ServiceModelError.self) { try ServiceModel(data: part) }
            }
        }
    }

    @Test(.enabled(if: MetadataDocuments.folder != nil, "SHARED_DIRECTORY has no metadata documents"))
    func aLargeDocumentCutOff() throws {
        let data = try MetadataDocuments.data("graph-v1.0.xml")
        // A full sweep cuts at every 1,000th byte.
        for end in stride(from: 1_000, to: data.count, by: Sweep.isFull ? 1_000 : 700_000) {
            let error = #expect(throws: ServiceModelError.self) { try ServiceModel(data: data.prefix(end)) }
            #expect(error?.kind == .malformed && error?.line ?? 0 > 0, "at \(end)")
        }
    }

    @Test func changedBytes() {
        var random = SeededGenerator(seed: 34)
        for data in samples() {
            for _ in 0..<Sweep.rounds(ofAll: 60) {
                var changed = data
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let index = Int.random(in: 0..<changed.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: changed[index] = UInt8.random(in: 0...255, using: &random)
                    case 1: changed.removeSubrange(index..<min(index + Int.random(in: 1..<40, using: &random), changed.count))
                    default: changed.insert(contentsOf: changed[index..<min(index + 30, changed.count)], at: index)
                    }
                    if changed.isEmpty { break }
                }
                read(changed)
            }
        }
    }

    @Test func manyMisplacedDeclarations() throws {
        let text = String(decoding: document("<ComplexType Name=\"T\"/>"), as: UTF8.self)
        let model = try ServiceModel(xml: Data((" " + String(repeating: "\n<?xml ?>", count: 100_000) + text).utf8))
        #expect(model.complexType("S.T") != nil)
        let lines = model.diagnostics.filter { $0.kind == .misplacedElement }.prefix(3).map(\.line)
        #expect(lines == [2, 3, 4])
    }

    @Test func declarationsInsideOfAnnotationsAndComments() throws {
        let other = "<?xml version=\"1.0\" encoding=\"windows-1252\"?>"
        let text = """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm"><ComplexType Name="Größe">
            <Annotation Term="T.t"><String><![CDATA[\(other)]]></String></Annotation></ComplexType></Schema>
            </edmx:DataServices></edmx:Edmx>
            """
        #expect(try ServiceModel(xml: Data(text.utf8)).complexType("S.Größe") != nil)
        #expect(try ServiceModel(xml: Data("<!-- \(other) -->\(text)".utf8)).complexType("S.Größe") != nil)
        // The declaration itself counts, also after a blank.
        let encoded = try #require((" " + other + text).data(using: .windowsCP1252))
        #expect(try ServiceModel(xml: encoded).complexType("S.Größe") != nil)
    }

    @Test func deepNesting() throws {
        let deep = String(repeating: "<Not>", count: 80) + "<Null/>" + String(repeating: "</Not>", count: 80)
        let model = try ServiceModel(xml: document("<Annotation Term=\"T.t\">\(deep)</Annotation>"))
        #expect(try ServiceModel(xml: model.xml()) == model)
        let json = "{\"$Version\": \"4.01\", \"S\": {\"@T.t" + String(repeating: "@T.t", count: 300) + "\": 1}}"
        #expect(try ServiceModel(json: Data(json.utf8)).diagnostics.map(\.kind) == [.missing])
    }
}
